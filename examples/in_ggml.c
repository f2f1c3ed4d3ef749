/* ggml's argmax of rows, over argreduce: how the loop inside a C project becomes one call. Nothing of ggml is needed;
 * the names are those of its forward pass on the CPU. The program compares the call with the loop.
 *
 *     cc -std=c11 -o in_ggml in_ggml.c $(pkg-config --cflags --libs argreduce) && ./in_ggml
 */
#include <argreduce.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last of the largest of each row: `ne01` rows of `ne00` floats, `nb01` bytes from one to the next. An index in
 * `dst` is `nb0` bytes after the one before. A NaN is never the largest; to take it for that: ARGREDUCE_PROPAGATE. */
static argreduce_status argmax_rows(int64_t ne00, int64_t ne01, const void *src0, size_t nb01, void *dst, size_t nb0) {
    if (ne01 == 0) return ARGREDUCE_OK;
    if (nb01 % sizeof(float) != 0 || nb0 % sizeof(int32_t) != 0) return ARGREDUCE_STRIDE;
    const int64_t sizes[] = {ne01, ne00}, strides[] = {(int64_t)(nb01 / sizeof(float)), 1}, axes[] = {1};
    const int64_t dst_sizes[] = {ne01, 1}, dst_strides[] = {(int64_t)(nb0 / sizeof(int32_t)), 1};
    const argreduce_desc desc = {
        .size = sizeof desc, .function = ARGREDUCE_ARGMAX, .axis_direction = ARGREDUCE_DECREASING,
        .input_type = ARGREDUCE_FLOAT32, .input = {.rank = 2, .sizes = sizes, .strides = strides},
        .index_type = ARGREDUCE_INT32, .output = {.rank = 2, .sizes = dst_sizes, .strides = dst_strides},
        .nan_policy = ARGREDUCE_IGNORE, .axis_count = 1, .axes = axes,
    };
    argreduce_operator *argmax;
    argreduce_status status = argreduce_compile(&desc, &argmax);
    if (status != ARGREDUCE_OK) return status;
    const size_t src0_bytes = (size_t)(ne01 - 1) * nb01 + (size_t)ne00 * sizeof(float);
    status = argreduce_execute(argmax, src0, src0_bytes, dst, (size_t)(ne01 - 1) * nb0 + sizeof(int32_t));
    argreduce_release(argmax);
    return status;
}

/* What ggml does for each row: the last of equals. (With a NaN, ggml forgets what came before it.) */
static int32_t plain(int64_t n, const float *row) {
    float best = -INFINITY;
    int32_t index = 0;
    for (int64_t i = 0; i < n; ++i) {
        best = row[i] > best ? row[i] : best;
        if (row[i] == best) index = (int32_t)i;
    }
    return index;
}

/* Rows of few different values, full of ties; with `row_gap` floats between rows, and `index_gap` between indices. */
static void check(int64_t columns, int64_t rows, size_t row_gap, size_t index_gap) {
    const size_t row_floats = (size_t)columns + row_gap, step = 1 + index_gap;
    float *src0 = malloc((size_t)rows * row_floats * sizeof *src0);
    int32_t *dst = malloc((size_t)rows * step * sizeof *dst);
    if (src0 == NULL || dst == NULL) exit(EXIT_FAILURE);
    uint32_t random = 1;
    for (size_t i = 0; i < (size_t)rows * row_floats; ++i) {
        random = random * 1664525u + 1013904223u;
        src0[i] = random >> 30 == 0 ? -INFINITY : (float)(random >> 26) - 30;
        /* Between the rows is what no row may see. */
        if (i % row_floats >= (size_t)columns) src0[i] = INFINITY;
    }
    memset(dst, -1, (size_t)rows * step * sizeof *dst);
    if (argmax_rows(columns, rows, src0, row_floats * sizeof *src0, dst, step * sizeof *dst) != ARGREDUCE_OK) {
        fprintf(stderr, "%s\n", argreduce_last_error());
        exit(EXIT_FAILURE);
    }
    for (size_t i = 0; i < (size_t)rows * step; ++i) {
        const int32_t expected = i % step == 0 ? plain(columns, src0 + i / step * row_floats) : -1;
        if (dst[i] != expected) {
            fprintf(stderr, "of %d columns, row %zu: %d, not %d\n", (int)columns, i / step, dst[i], expected);
            exit(EXIT_FAILURE);
        }
    }
    free(src0);
    free(dst);
}

int main(void) {
    for (int64_t columns = 1; columns < 300; columns += columns < 70 ? 1 : 61) {
        check(columns, 1, 0, 0);
        check(columns, 9, 0, 0);
        check(columns, 37, 3, 0);
        check(columns, 37, 5, 2);
    }
    check(128256, 2, 0, 0);
    const float equal[3] = {-INFINITY, -INFINITY, -INFINITY}, nan[3] = {1, NAN, 1};
    int32_t index = -1;
    if (argmax_rows(3, 1, equal, sizeof equal, &index, sizeof index) != ARGREDUCE_OK || index != 2) return EXIT_FAILURE;
    if (argmax_rows(3, 1, nan, sizeof nan, &index, sizeof index) != ARGREDUCE_OK || index != 2) return EXIT_FAILURE;
    /* No rows are no indices; bytes between rows that are no whole floats are an error. */
    if (argmax_rows(3, 0, equal, sizeof equal, NULL, sizeof index) != ARGREDUCE_OK) return EXIT_FAILURE;
    if (argmax_rows(3, 1, equal, sizeof equal + 1, &index, sizeof index) != ARGREDUCE_STRIDE) return EXIT_FAILURE;
    puts("argmax of rows: as the plain loop has it");
    return EXIT_SUCCESS;
}
