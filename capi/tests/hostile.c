/* Bad input from outside: each case has its status, leaves a message, and writes nothing. Buffers come from malloc at their exact size, so
 * that valgrind sees a single byte read or written beyond them. (The messages are compared in capi/tests/interface.) */
#define _POSIX_C_SOURCE 200112L
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <argreduce.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int passed, failed;

static void expect(int ok, const char *what) {
    ok ? ++passed : ++failed;
    if (!ok) {
        fprintf(stderr, "FAILED: %s (last error: %s)\n", what, argreduce_last_error());
    }
}

/* A copy of exactly this size. */
static void *copy(const void *data, size_t bytes) {
    void *block = malloc(bytes ? bytes : 1);
    if (!block) {
        abort();
    }
    return memcpy(block, data, bytes);
}

static const int64_t sizes[9] = {2, 3, 4, 1, 1, 1, 1, 1, 1}, axes[9] = {1, 1, 0, 0, 0, 0, 0, 0, 0};

/* An argmax of [2, 3, 4] over axis 1. */
static argreduce_desc good(void) {
    return (argreduce_desc){
        .function = ARGREDUCE_ARGMAX,
        .input_type = ARGREDUCE_FLOAT32,
        .input = {.rank = 3, .sizes = sizes},
        .output_type = ARGREDUCE_UINT32,
        .axis_count = 1,
        .axes = axes,
    };
}

/* Refused with this status and a message of its own; no operator is left. */
static void refused(argreduce_desc desc, argreduce_status status, const char *what) {
    argreduce_operator *op = (argreduce_operator *)&passed;
    argreduce_compile(NULL, NULL);
    char *before = copy(argreduce_last_error(), strlen(argreduce_last_error()) + 1);
    argreduce_desc *exact = copy(&desc, sizeof desc);
    expect(argreduce_compile(exact, &op) == status && op == NULL && strcmp(before, argreduce_last_error()) != 0, what);
    free(exact);
    free(before);
}

static void descriptions(void) {
    argreduce_desc desc;
    argreduce_operator *op;
#define REFUSED(status, change) (desc = good(), change, refused(desc, status, #change))
    expect(argreduce_compile(NULL, &op) == ARGREDUCE_NULL_POINTER && op == NULL, "desc is NULL");
    desc = good();
    expect(argreduce_compile(&desc, NULL) == ARGREDUCE_NULL_POINTER, "out is NULL");
    REFUSED(ARGREDUCE_NULL_POINTER, desc.input.sizes = NULL);
    REFUSED(ARGREDUCE_NULL_POINTER, desc.axes = NULL);
    REFUSED(ARGREDUCE_NULL_POINTER, (desc.axes = NULL, desc.axis_count = 0));
    REFUSED(ARGREDUCE_NULL_POINTER, (desc.axes = NULL, desc.axis_count = 0, desc.input.rank = 0));
    desc = good();
    desc.axis_count = 0;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "a list of no axes");
    argreduce_release(op);
    REFUSED(ARGREDUCE_NULL_POINTER, desc.output.strides = sizes);
    REFUSED(ARGREDUCE_MISALIGNED, desc.input.sizes = (const int64_t *)(const void *)((const char *)sizes + 1));
    REFUSED(ARGREDUCE_MISALIGNED, desc.input.strides = (const int64_t *)(const void *)((const char *)sizes + 4));
    REFUSED(ARGREDUCE_MISALIGNED, desc.axes = (const int64_t *)(const void *)((const char *)axes + 2));

    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.function = 2);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.function = ARGREDUCE_ARGMINMAX - 1);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.function = ARGREDUCE_ARGMINMAX + 1);
    REFUSED(ARGREDUCE_AXIS_OUT_OF_RANGE, (desc.function = ARGREDUCE_ARGMINMAX, desc.axes = ((const int64_t[]){3})));
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.input_type = 0);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.input_type = 12);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.input_type = UINT32_MAX);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.output_type = 0x103);
    REFUSED(ARGREDUCE_OUTPUT_TYPE, desc.output_type = ARGREDUCE_FLOAT32);
    REFUSED(ARGREDUCE_OUTPUT_TYPE, desc.output_type = ARGREDUCE_INT8);
    REFUSED(ARGREDUCE_OUTPUT_TYPE, desc.output_type = ARGREDUCE_INT16);
    REFUSED(ARGREDUCE_OUTPUT_TYPE, desc.output_type = ARGREDUCE_BOOL);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.axis_direction = 2);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.nan_policy = 2);

    REFUSED(ARGREDUCE_RANK, desc.input.rank = 9);
    REFUSED(ARGREDUCE_RANK, desc.input.rank = UINT32_MAX);
    REFUSED(ARGREDUCE_RANK, (desc.output.rank = 9, desc.output.sizes = sizes));
    REFUSED(ARGREDUCE_TOO_MANY_AXES, desc.axis_count = 4);
    REFUSED(ARGREDUCE_TOO_MANY_AXES, desc.axis_count = UINT32_MAX);
    REFUSED(ARGREDUCE_DUPLICATE_AXIS, desc.axis_count = 2);
    REFUSED(ARGREDUCE_AXIS_OUT_OF_RANGE, desc.axes = ((const int64_t[]){3}));
    REFUSED(ARGREDUCE_AXIS_OUT_OF_RANGE, desc.axes = ((const int64_t[]){-4}));
    REFUSED(ARGREDUCE_AXIS_OUT_OF_RANGE, desc.axes = ((const int64_t[]){INT64_MIN}));

    REFUSED(ARGREDUCE_SIZE, desc.input.sizes = ((const int64_t[]){2, -3, 4}));
    REFUSED(ARGREDUCE_EMPTY_REDUCTION, desc.input.sizes = ((const int64_t[]){2, 0, 4}));
    REFUSED(ARGREDUCE_TOO_MANY_ELEMENTS, desc.input.sizes = ((const int64_t[]){INT64_MAX, 3, INT64_MAX}));
    REFUSED(ARGREDUCE_TOO_MANY_ELEMENTS, desc.input.sizes = ((const int64_t[]){1LL << 32, 1LL << 32, 1}));
    REFUSED(ARGREDUCE_OFFSET, desc.input.offset = -1);
    REFUSED(ARGREDUCE_OFFSET, desc.input.offset = INT64_MAX);
    REFUSED(ARGREDUCE_STRIDE, desc.input.strides = ((const int64_t[]){INT64_MAX, INT64_MAX, 1}));
    REFUSED(ARGREDUCE_STRIDE, desc.input.strides = ((const int64_t[]){INT64_MIN, INT64_MIN, 1}));
    REFUSED(ARGREDUCE_BEFORE_START, desc.input.strides = ((const int64_t[]){-12, 4, 1}));
    REFUSED(ARGREDUCE_BEFORE_START, (desc.input.strides = ((const int64_t[]){-12, 4, 1}), desc.input.offset = 11));

    REFUSED(ARGREDUCE_OUTPUT_RANK, (desc.output.rank = 2, desc.output.sizes = sizes));
    REFUSED(ARGREDUCE_OUTPUT_SIZE, (desc.output.rank = 3, desc.output.sizes = sizes));
    REFUSED(ARGREDUCE_OUTPUT_OVERLAPS,
            (desc.output.rank = 3, desc.output.sizes = ((const int64_t[]){2, 1, 4}), desc.output.strides = ((const int64_t[]){3, 0, 1})));
    REFUSED(ARGREDUCE_INDEX_TOO_LARGE,
            (desc.output_type = ARGREDUCE_INT32, desc.input.sizes = ((const int64_t[]){1, 1LL << 32, 1}),
             desc.input.strides = ((const int64_t[]){0, 0, 0})));
    REFUSED(ARGREDUCE_INDEX_TOO_LARGE,
            (desc.output_type = ARGREDUCE_UINT8, desc.input.sizes = ((const int64_t[]){1, 257, 1})));
    REFUSED(ARGREDUCE_INDEX_TOO_LARGE,
            (desc.output_type = ARGREDUCE_UINT16, desc.input.sizes = ((const int64_t[]){1, 65537, 1})));
#undef REFUSED
}

/* One buffer for each thread: what is in it changes, where it is does not. */
static void messages(void) {
    argreduce_operator *op;
    const char *message = argreduce_last_error();
    expect(argreduce_compile(NULL, NULL) == ARGREDUCE_NULL_POINTER, "out is NULL");
    expect(argreduce_last_error() == message && strcmp(message, "out is NULL") == 0, "one place for all");
    /* An argument may be evaluated before the call beside it. */
    const char *asked_for_first = argreduce_last_error();
    argreduce_desc desc = good();
    desc.axis_count = 2;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_DUPLICATE_AXIS, "an axis given twice");
    expect(strstr(asked_for_first, "given twice") != NULL, "a message that was asked for before the call");
    desc.axis_count = 1;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK && strstr(message, "given twice"), "a success leaves it");
    argreduce_release(op);
}

/* A text longer than the buffer is cut between characters. (A process of its own: the variable is read once.) */
static void a_long_message(void) {
    const pid_t child = fork();
    if (child == 0) {
        static char name[4001];
        for (size_t n = 0; n + 1 < sizeof name; n += 2) {
            memcpy(name + n, "\xc3\xa9", 2);
        }
        setenv("ARGREDUCE_ISA", name, 1);
        argreduce_desc desc = good();
        argreduce_operator *op;
        const int refused = argreduce_compile(&desc, &op) == ARGREDUCE_ISA && op == NULL;
        /* 511 bytes at most: ARGREDUCE_ISA= and an odd number of bytes are left. */
        const char *message = argreduce_last_error();
        const int is_cut = strlen(message) == 510 && strcmp(message + 508, "\xc3\xa9") == 0;
        _exit(refused && is_cut ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status = -1;
    expect(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a long message is cut at a character");
}

/* A destructor of thread-specific data, which runs while a thread ends, after those of C++ and Rust. */
static pthread_key_t at_the_end;
struct ending { const char *message; int is_right; };

static void fail_at_the_end(void *ending_) {
    struct ending *ending = ending_;
    argreduce_operator *op;
    ending->is_right = argreduce_last_error() == ending->message && strcmp(ending->message, "out is NULL") == 0;
    ending->is_right &= argreduce_compile(NULL, &op) == ARGREDUCE_NULL_POINTER && op == NULL;
    ending->is_right &= argreduce_last_error() == ending->message && strcmp(ending->message, "desc is NULL") == 0;
}

static void *ending_thread(void *ending_) {
    struct ending *ending = ending_;
    argreduce_compile(NULL, NULL);
    ending->message = argreduce_last_error();
    return pthread_setspecific(at_the_end, ending) == 0 ? ending : NULL;
}

static void endings(void) {
    struct ending ending = {NULL, 0};
    pthread_t thread;
    void *result = NULL;
    argreduce_compile(NULL, NULL);
    expect(pthread_key_create(&at_the_end, fail_at_the_end) == 0, "a key");
    expect(pthread_create(&thread, NULL, ending_thread, &ending) == 0, "a thread starts");
    expect(pthread_join(thread, &result) == 0 && result == &ending, "a thread ends");
    expect(ending.is_right, "a message while a thread ends");
    expect(ending.message != argreduce_last_error(), "each thread has a buffer of its own");
}

static void sizes_of_buffers(void) {
    argreduce_desc desc = good();
    desc.input_type = ARGREDUCE_FLOAT64;
    argreduce_operator *op;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "compile");
    size_t *bytes = malloc(3 * sizeof *bytes);
    if (!bytes) {
        abort();
    }
    size_t *odd = (size_t *)(void *)((char *)bytes + 1);
    bytes[0] = bytes[1] = bytes[2] = 9;
#define REFUSED(status, call) expect((call) == (status), #call)
    REFUSED(ARGREDUCE_NULL_POINTER, argreduce_operator_bytes(NULL, bytes, bytes + 1, bytes + 2));
    REFUSED(ARGREDUCE_NULL_POINTER, argreduce_operator_bytes(op, NULL, bytes + 1, bytes + 2));
    REFUSED(ARGREDUCE_NULL_POINTER, argreduce_operator_bytes(op, bytes, NULL, bytes + 2));
    REFUSED(ARGREDUCE_NULL_POINTER, argreduce_operator_bytes(op, bytes, bytes + 1, NULL));
    REFUSED(ARGREDUCE_MISALIGNED, argreduce_operator_bytes(op, odd, bytes + 1, bytes + 2));
    REFUSED(ARGREDUCE_MISALIGNED, argreduce_operator_bytes(op, bytes, bytes + 1, odd));
#undef REFUSED
    expect(bytes[0] == 9 && bytes[1] == 9 && bytes[2] == 9, "nothing is written");
    expect(argreduce_operator_bytes(op, bytes, bytes + 1, bytes + 2) == ARGREDUCE_OK, "the bytes of an operator");
    expect(bytes[0] == 24 * 8 && bytes[1] == 8 * 4 && bytes[2] == 8 * 8, "24 doubles, 8 indices of 32 bits, 8 doubles");
    void *input = calloc(1, bytes[0]), *output = malloc(bytes[1]), *values = malloc(bytes[2]);
    const argreduce_status status =
        argreduce_execute_with_values(op, input, bytes[0], output, bytes[1], values, bytes[2]);
    expect(status == ARGREDUCE_OK, "as many bytes as are needed");
    argreduce_release(op);
    free(input), free(output), free(values), free(bytes);
}

#if !defined ARGREDUCE_VERSION_MAJOR || ARGREDUCE_VERSION_MAJOR * 1000 + ARGREDUCE_VERSION_MINOR < 1
#error "a header has a version, which is 0.1 at least"
#endif

static void version(void) {
    const uint32_t header = ARGREDUCE_VERSION_MAJOR << 16 | ARGREDUCE_VERSION_MINOR << 8 | ARGREDUCE_VERSION_PATCH;
    expect(argreduce_version() == header, "the header and the library are of one version");
}

static void buffers(void) {
    enum { INPUT = 24 * sizeof(float), OUTPUT = 8 * sizeof(uint32_t), VALUES = 8 * sizeof(float) };
    argreduce_desc desc = good();
    argreduce_operator *op;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "compile");
    char *input = calloc(1, INPUT), *output = malloc(OUTPUT), *values = malloc(VALUES), *untouched = malloc(OUTPUT);
    if (!input || !output || !values || !untouched) {
        abort();
    }
    memset(output, 0xa5, OUTPUT);
    memset(values, 0xa5, VALUES);
    memset(untouched, 0xa5, OUTPUT);
#define REFUSED(status, call) expect((call) == (status), #call)
    REFUSED(ARGREDUCE_NULL_POINTER, argreduce_execute(NULL, input, INPUT, output, OUTPUT));
    REFUSED(ARGREDUCE_NULL_POINTER, argreduce_execute(op, NULL, INPUT, output, OUTPUT));
    REFUSED(ARGREDUCE_NULL_POINTER, argreduce_execute(op, input, INPUT, NULL, OUTPUT));
    REFUSED(ARGREDUCE_NULL_POINTER, argreduce_execute_with_values(op, input, INPUT, output, OUTPUT, NULL, VALUES));
    REFUSED(ARGREDUCE_NULL_POINTER, argreduce_execute_with_values(NULL, input, INPUT, output, OUTPUT, values, VALUES));
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, argreduce_execute(op, NULL, 0, output, OUTPUT));
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, argreduce_execute(op, input, INPUT - 1, output, OUTPUT));
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, argreduce_execute(op, input, INPUT, output, OUTPUT - 1));
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, argreduce_execute_with_values(op, input, INPUT, output, OUTPUT, values, VALUES - 1));
    REFUSED(ARGREDUCE_MISALIGNED, argreduce_execute(op, input + 1, INPUT - 1, output, OUTPUT));
    REFUSED(ARGREDUCE_MISALIGNED, argreduce_execute(op, input, INPUT, output + 2, OUTPUT - 2));
    REFUSED(ARGREDUCE_MISALIGNED, argreduce_execute_with_values(op, input, INPUT, output, OUTPUT, values + 3, VALUES - 3));
    REFUSED(ARGREDUCE_BUFFERS_OVERLAP, argreduce_execute(op, input, INPUT, input + INPUT - 4, OUTPUT));
    REFUSED(ARGREDUCE_BUFFERS_OVERLAP, argreduce_execute_with_values(op, input, INPUT, output, OUTPUT, output, VALUES));
    REFUSED(ARGREDUCE_BUFFER_TOO_LARGE, argreduce_execute(op, input, INPUT, (void *)UINTPTR_MAX, SIZE_MAX));
#undef REFUSED
    expect(memcmp(output, untouched, OUTPUT) == 0 && memcmp(values, untouched, VALUES) == 0, "nothing is written");
    expect(strcmp(argreduce_operator_isa(NULL), "") == 0, "the ISA of no operator");
    expect(argreduce_execute_with_values(op, input, INPUT, output, OUTPUT, values, VALUES) == ARGREDUCE_OK, "exact buffers");
    argreduce_release(op);
    argreduce_release(NULL);
    free(input), free(output), free(values), free(untouched);
}

/* Every type, rows and columns of every length up to some vectors: a read beyond the buffer is what valgrind is here for. */
static void every_length(void) {
    static const struct { uint32_t type; size_t size; } types[] = {
        {ARGREDUCE_FLOAT32, 4}, {ARGREDUCE_FLOAT16, 2}, {ARGREDUCE_UINT32, 4}, {ARGREDUCE_UINT16, 2}, {ARGREDUCE_UINT8, 1},
        {ARGREDUCE_INT32, 4},   {ARGREDUCE_INT16, 2},   {ARGREDUCE_INT8, 1},   {ARGREDUCE_FLOAT64, 8}, {ARGREDUCE_UINT64, 8},
        {ARGREDUCE_INT64, 8},   {ARGREDUCE_BFLOAT16, 2}, {ARGREDUCE_BOOL, 1},
    };
    int all_right = 1;
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
        for (int64_t length = 1; length <= 150; length += length < 40 ? 1 : 7) {
            for (int axis = 0; axis < 2; ++axis) {
                const int64_t shape[] = {axis ? 3 : length, axis ? length : 3}, reduced[] = {axis};
                argreduce_desc desc = good();
                desc.input_type = types[t].type;
                desc.input = (argreduce_layout){.rank = 2, .sizes = shape};
                desc.axes = reduced;
                argreduce_operator *op;
                /* Bytes of all values: as bool, most of them are neither 0 nor 1. */
                const size_t bytes = (size_t)length * 3 * types[t].size;
                unsigned char *input = malloc(bytes);
                uint32_t *output = malloc(3 * sizeof *output);
                void *values = malloc(3 * types[t].size);
                for (size_t n = 0; input && n < bytes; ++n) {
                    input[n] = (unsigned char)(n * 37 >> 1);
                }
                all_right &= argreduce_compile(&desc, &op) == ARGREDUCE_OK;
                all_right &= argreduce_execute_with_values(op, input, bytes, output, 12, values, 3 * types[t].size) == ARGREDUCE_OK;
                for (int n = 0; n < 3; ++n) {
                    all_right &= output[n] < (uint64_t)length;
                }
                argreduce_release(op);
                free(input), free(output), free(values);
            }
        }
    }
    expect(all_right, "every type and length");
}

/* Indices of 8 and 16 bits, in buffers of just as many bytes: the largest that fits is written. */
static void narrow_indices(void) {
    static const struct { uint32_t type; size_t size; int64_t length; } types[] = {
        {ARGREDUCE_UINT8, 1, 256},
        {ARGREDUCE_UINT16, 2, 65536},
    };
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
        const int64_t shape[] = {3, types[t].length};
        argreduce_desc desc = good();
        desc.input_type = ARGREDUCE_BOOL;
        desc.input = (argreduce_layout){.rank = 2, .sizes = shape};
        desc.output_type = types[t].type;
        argreduce_operator *op;
        size_t input_bytes = 0, output_bytes = 0, values_bytes = 0;
        expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "compile to narrow indices");
        argreduce_operator_bytes(op, &input_bytes, &output_bytes, &values_bytes);
        expect(output_bytes == 3 * types[t].size && values_bytes == 3, "the bytes of narrow indices");
        unsigned char *input = calloc(1, input_bytes), *output = malloc(output_bytes);
        if (!input || !output) {
            abort();
        }
        for (size_t row = 1; row <= 3; ++row) {
            input[row * (size_t)types[t].length - 1] = 1;
        }
        expect(argreduce_execute(op, input, input_bytes, output, output_bytes) == ARGREDUCE_OK, "narrow indices");
        for (size_t n = 0; n < output_bytes; ++n) {
            expect(output[n] == 0xff, "the largest index that fits");
        }
        argreduce_status status = argreduce_execute(op, input, input_bytes, output, output_bytes - 1);
        expect(status == ARGREDUCE_BUFFER_TOO_SHORT, "narrow and short");
        if (types[t].size > 1) {
            status = argreduce_execute(op, input, input_bytes, output + 1, output_bytes - 1);
            expect(status == ARGREDUCE_MISALIGNED, "narrow and misaligned");
        }
        argreduce_release(op);
        free(input), free(output);
    }
}

enum { THREADS = 8, ROW = 1000 };

static void *thread(void *shared) {
    float *input = calloc(ROW, sizeof *input);
    size_t right = 0;
    for (uint32_t n = 0; input && n < 50; ++n) {
        uint32_t index = UINT32_MAX;
        input[n * 17] = 1;
        right += argreduce_execute(shared, input, ROW * sizeof *input, &index, sizeof index) == ARGREDUCE_OK && index == n * 17;
        input[n * 17] = 0;
        right += argreduce_execute(shared, input, n, &index, sizeof index) == ARGREDUCE_BUFFER_TOO_SHORT;
    }
    free(input);
    return right == 100 ? shared : NULL;
}

static void threads(void) {
    const int64_t row[] = {ROW}, first[] = {0};
    argreduce_desc desc = good();
    desc.input = (argreduce_layout){.rank = 1, .sizes = row};
    desc.axes = first;
    argreduce_operator *op;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "compile");
    pthread_t all[THREADS];
    for (int n = 0; n < THREADS; ++n) {
        expect(pthread_create(&all[n], NULL, thread, op) == 0, "a thread starts");
    }
    for (int n = 0; n < THREADS; ++n) {
        void *result = NULL;
        expect(pthread_join(all[n], &result) == 0 && result == op, "a thread gets its answers and its errors");
    }
    argreduce_release(op);
}

/* DirectML's descriptors, as 64-bit C lays them out. */
typedef struct { int type; const void *desc; } typed;
typedef struct { int type, flags; unsigned count; const unsigned *sizes, *strides; uint64_t bytes; unsigned alignment; } buffer_desc;
typedef struct { const typed *input, *output; unsigned count; const unsigned *axes; int direction; } arg_desc;
typedef struct { int function; const typed *input, *output; unsigned count; const unsigned *axes; } reduce_desc;

static void directml(void) {
    static const unsigned in_sizes[9] = {2, 3, 1, 1, 1, 1, 1, 1, 1}, out_sizes[9] = {2, 1}, one[3] = {1, 1, 0}, wild[] = {1u << 31, 1u << 31};
    const unsigned two[] = {2, 2};
    argreduce_operator *op;
#define REFUSED(status, change)                                                                                        \
    do {                                                                                                               \
        buffer_desc in = {ARGREDUCE_FLOAT32, 0, 2, in_sizes, NULL, 24, 0}, out = {ARGREDUCE_UINT32, 0, 2, out_sizes, NULL, 8, 0}; \
        typed tensors[2] = {{1, &in}, {1, &out}};                                                                      \
        arg_desc arg = {&tensors[0], &tensors[1], 1, one, 0};                                                          \
        typed desc = {138, &arg};                                                                                      \
        reduce_desc reduce = {0, &tensors[0], &tensors[1], 1, one};                                                    \
        (void)reduce;                                                                                                  \
        change;                                                                                                        \
        typed *exact = copy(&desc, sizeof desc);                                                                       \
        op = (argreduce_operator *)&passed;                                                                            \
        const argreduce_status found = argreduce_compile_directml(exact, 0, &op);                                      \
        expect(found == (status) && (op == NULL) == (found != ARGREDUCE_OK), #change);                                 \
        argreduce_release(op);                                                                                         \
        free(exact);                                                                                                   \
    } while (0)
    REFUSED(ARGREDUCE_OK, (void)out_sizes);
    REFUSED(ARGREDUCE_OK, (desc = (typed){55, &reduce}));
    REFUSED(ARGREDUCE_UNSUPPORTED_OPERATOR, desc.type = 1);
    REFUSED(ARGREDUCE_UNSUPPORTED_OPERATOR, desc.type = ARGREDUCE_ARGMINMAX);
    /* DirectML's average, which both of ours is not. */
    REFUSED(ARGREDUCE_UNSUPPORTED_OPERATOR, (desc = (typed){55, &reduce}, reduce.function = 2));
    REFUSED(ARGREDUCE_UNSUPPORTED_OPERATOR, (desc = (typed){55, &reduce}, reduce.function = ARGREDUCE_ARGMINMAX));
    REFUSED(ARGREDUCE_NULL_POINTER, desc.desc = NULL);
    REFUSED(ARGREDUCE_NULL_POINTER, arg.input = NULL);
    REFUSED(ARGREDUCE_NULL_POINTER, arg.output = NULL);
    REFUSED(ARGREDUCE_NULL_POINTER, arg.axes = NULL);
    REFUSED(ARGREDUCE_NULL_POINTER, tensors[1].desc = NULL);
    REFUSED(ARGREDUCE_NULL_POINTER, in.sizes = NULL);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, tensors[0].type = 2);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, in.type = 12);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, arg.direction = -1);
    REFUSED(ARGREDUCE_TENSOR_FLAGS, in.flags = 1);
    REFUSED(ARGREDUCE_BASE_OFFSET_ALIGNMENT, in.alignment = 3);
    REFUSED(ARGREDUCE_RANK, in.count = 0);
    REFUSED(ARGREDUCE_RANK, in.count = 9);
    REFUSED(ARGREDUCE_RANK, out.count = UINT32_MAX);
    REFUSED(ARGREDUCE_OUTPUT_RANK, out.count = 1);
    REFUSED(ARGREDUCE_TOO_MANY_AXES, arg.count = 3);
    REFUSED(ARGREDUCE_TOO_MANY_AXES, arg.count = UINT32_MAX);
    REFUSED(ARGREDUCE_DUPLICATE_AXIS, arg.count = 2);
    REFUSED(ARGREDUCE_TOTAL_SIZE, in.bytes = 20);
    REFUSED(ARGREDUCE_TOTAL_SIZE, (in.sizes = two, in.strides = wild, in.bytes = 4));
    REFUSED(ARGREDUCE_TOTAL_SIZE_MULTIPLE, in.bytes = 25);
    REFUSED(ARGREDUCE_OUTPUT_SIZE, out.sizes = in_sizes; out.bytes = 24);
    REFUSED(ARGREDUCE_OUTPUT_TYPE, out.type = ARGREDUCE_FLOAT32);
    REFUSED(ARGREDUCE_OUTPUT_TYPE, out.type = ARGREDUCE_UINT8);
    REFUSED(ARGREDUCE_OUTPUT_TYPE, out.type = ARGREDUCE_UINT16);
#undef REFUSED
    expect(argreduce_compile_directml(NULL, 0, &op) == ARGREDUCE_NULL_POINTER && op == NULL, "no descriptor");
}

static void in_turn(void *context, argreduce_task task, size_t tasks, void *data) {
    (void)context;
    for (size_t n = 0; n < tasks; ++n) {
        task(data, n);
    }
}

/* Masks that end too soon, lead elsewhere, or are no masks; and what is left where nothing is there. */
static void masks(void) {
    argreduce_desc desc = good();
    argreduce_operator *op = NULL;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "an operator to mask");
    float *input = copy((float[24]){1, 9, 9, 9, 2, 2, 2, 2, 3, 3, 3, 3}, 24 * sizeof(float));
    uint32_t *output = copy((uint32_t[8]){7, 7, 7, 7, 7, 7, 7, 7}, 8 * sizeof(uint32_t));
    uint8_t *bits = copy((uint8_t[3]){0xf1, 0xff, 0xff}, 3), *bytes = copy((uint8_t[24]){1}, 24);
    memset(bytes + 4, 255, 20);
    const argreduce_mask whole = {.size = sizeof whole, .data = bits, .bytes = 3, .kind = ARGREDUCE_MASK_BITS};
#define MASKED(mask, values, n) \
    argreduce_execute_masked(op, NULL, mask, input, 24 * sizeof(float), output, 8 * sizeof(uint32_t), values, n)
    expect(MASKED(&whole, NULL, 0) == ARGREDUCE_OK, "a mask of bits");
    const uint32_t expected[8] = {2, 2, 2, 2, 0, 0, 0, 0};
    expect(memcmp(output, expected, sizeof expected) == 0, "what is there");
    memset(output, 7, sizeof expected);
    uint32_t *before = copy(output, sizeof expected);

    expect(MASKED(NULL, NULL, 0) == ARGREDUCE_NULL_POINTER, "no mask");
    argreduce_mask mask = whole;
    mask.data = NULL;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_NULL_POINTER, "a mask without data");
    mask = whole;
    mask.bytes = 2;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_MASK_MISMATCH, "too few bits");
    expect(strcmp(argreduce_last_error(), "the mask has 16 bits: the input needs 24") == 0, "how many bits");
    mask = whole;
    mask.offset = 1;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_MASK_MISMATCH, "an offset beyond the bits");
    mask.offset = -1;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_MASK_MISMATCH, "a negative offset");
    mask.offset = INT64_MAX;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_MASK_MISMATCH, "the largest offset");
    mask = whole;
    mask.strides = sizes;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_MASK_MISMATCH, "bits with strides");
    mask = whole;
    mask.kind = 2;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_UNKNOWN_VALUE, "another kind");
    mask = whole;
    mask.size = sizeof mask - 1;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_UNKNOWN_VALUE, "a struct that says it is too small");
    const argreduce_mask *odd = (const argreduce_mask *)(const void *)((const char *)&whole + 1);
    expect(MASKED(odd, NULL, 0) == ARGREDUCE_MISALIGNED, "a misaligned mask");
    mask = whole;
    mask.has_fill = 1;
    mask.fill = -1;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_FILL_OUT_OF_RANGE, "a fill that is no uint32_t");
    mask = whole;
    mask.data = output;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_BUFFERS_OVERLAP, "a mask in the output");

    const int64_t strides[] = {12, 4, 1}, far[] = {12, 4, INT64_MAX}, back[] = {12, 4, -1}, none[] = {0, 0, 0};
    mask = (argreduce_mask){.size = sizeof mask, .data = bytes, .bytes = 23, .kind = ARGREDUCE_MASK_BYTES};
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_MASK_MISMATCH, "too few bytes");
    mask.bytes = 24;
    mask.strides = far;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_MASK_MISMATCH, "strides beyond memory");
    mask.strides = back;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_MASK_MISMATCH, "strides to before the start");
    mask.strides = (const int64_t *)(const void *)((const char *)strides + 1);
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_MISALIGNED, "misaligned strides");
    expect(memcmp(output, before, sizeof expected) == 0, "a mask that is refused, and nothing is written");
    mask.strides = strides;
    expect(MASKED(&mask, NULL, 0) == ARGREDUCE_OK && memcmp(output, expected, sizeof expected) == 0, "a mask of bytes");
    /* Nothing is there: one byte for all. */
    mask.strides = none;
    mask.bytes = 1;
    mask.data = bytes + 1;
    mask.size = sizeof mask + 64; /* a later version; what is beyond is nobody's */
    argreduce_mask *exact = copy(&mask, sizeof mask);
    bytes[1] = 0;
    expect(MASKED(exact, NULL, 0) == ARGREDUCE_NOTHING_THERE, "nothing is there");
    expect(strstr(argreduce_last_error(), "for output [0, 0, 0]") != NULL, "the first output");
    exact->has_fill = 1;
    exact->fill = UINT32_MAX;
    float *values = copy(input, 8 * sizeof(float));
    expect(MASKED(exact, values, 8 * sizeof(float)) == ARGREDUCE_OK, "nothing is there, and a fill");
    expect(output[0] == UINT32_MAX && output[7] == UINT32_MAX && values[1] == 0, "the fill, and zeros");
    expect(MASKED(exact, values, 7 * sizeof(float)) == ARGREDUCE_BUFFER_TOO_SHORT, "too few values");
    expect(MASKED(exact, NULL, 4) == ARGREDUCE_NULL_POINTER, "values at NULL");
    expect(MASKED(exact, output, 8 * sizeof(float)) == ARGREDUCE_BUFFERS_OVERLAP, "values in the output");
    expect(argreduce_execute_partials_masked(op, NULL, exact, input, 24 * sizeof(float), values, 8 * sizeof(float), output,
                                             8 * sizeof(uint32_t)) == ARGREDUCE_OK &&
               output[3] == UINT32_MAX,
           "partial answers of nothing");
    argreduce_release(op);
    free(exact);
    free(values);
    free(before);
    free(bytes);
    free(bits);
    free(output);
    free(input);
#undef MASKED
}

/* Its size says how much there is of an executor; the next page is nobody's. */
static void executors(void) {
    const long page_or_error = sysconf(_SC_PAGESIZE);
    const size_t page = (size_t)page_or_error;
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page_or_error <= 0 || pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0) {
        abort();
    }
    argreduce_desc desc = good();
    argreduce_operator *op;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "compile");
    float input[24] = {0};
    uint32_t output[8];
    memset(output, 0xa5, sizeof output);
    uint32_t *untouched = copy(output, sizeof output);
#define EXECUTE(executor) argreduce_execute_on(op, executor, input, sizeof input, output, sizeof output)
    /* What the first version had, which stays the least that is taken. */
    enum { FIRST = offsetof(argreduce_executor, min_task_kib) + sizeof(uint32_t) };
    const argreduce_executor whole = {.size = FIRST, .parallel_for = in_turn, .width = 2};
    const size_t too_small[] = {0, sizeof(size_t), FIRST - 1}, enough[] = {FIRST, FIRST + 1, page, SIZE_MAX};
    for (size_t n = 0; n < sizeof too_small / sizeof *too_small; ++n) {
        const argreduce_executor *at_the_end = memcpy(pages + page - sizeof(size_t), &too_small[n], sizeof(size_t));
        expect(EXECUTE(at_the_end) == ARGREDUCE_UNKNOWN_VALUE, "an executor that says it is too small");
        expect(strstr(argreduce_last_error(), "executor->size is ") != NULL, "which size is too small");
    }
    const argreduce_executor *odd = (const argreduce_executor *)(const void *)(pages + 1);
    expect(EXECUTE(odd) == ARGREDUCE_MISALIGNED, "a misaligned executor");
    expect(memcmp(output, untouched, sizeof output) == 0, "nothing is written");
    for (size_t n = 0; n < sizeof enough / sizeof *enough; ++n) {
        argreduce_executor *at_the_end = memcpy(pages + page - FIRST, &whole, FIRST);
        at_the_end->size = enough[n];
        expect(EXECUTE(at_the_end) == ARGREDUCE_OK, "an executor of the first version, or of a later one");
    }
#undef EXECUTE
    argreduce_release(op);
    munmap(pages, 2 * page);
    free(untouched);
}

/* A row of the whole, packed partial answers of it, and an array of structs, all at their exact size. */
static void parts(void) {
    typedef struct { float value; uint32_t index; } partial;
    enum { COUNT = 8, INPUT = 24 * sizeof(float), PACKED = COUNT * sizeof(float), STRUCTS = COUNT * sizeof(partial) };
    const int64_t start[] = {0, 3, 0}, too_far[] = {0, 4, 0}, before[] = {0, -1, 0};
    const int64_t whole[] = {2, 6, 4}, small[] = {2, 2, 4}, wrong[] = {2, -6, 4}, large[] = {2, INT64_C(1) << 33, 4};
    int64_t *exact = copy(whole, sizeof whole);
    const int64_t *odd = (const int64_t *)(const void *)((const char *)exact + 4);
    argreduce_desc desc = good();
    argreduce_operator *op = (argreduce_operator *)&passed;
#define REFUSED(status, call) expect((call) == (status) && op == NULL, #call)
    REFUSED(ARGREDUCE_NULL_POINTER, argreduce_compile_window(NULL, exact, start, &op));
    REFUSED(ARGREDUCE_NULL_POINTER, argreduce_compile_window(&desc, NULL, start, &op));
    REFUSED(ARGREDUCE_NULL_POINTER, argreduce_compile_window(&desc, exact, NULL, &op));
    REFUSED(ARGREDUCE_MISALIGNED, argreduce_compile_window(&desc, odd, start, &op));
    REFUSED(ARGREDUCE_MISALIGNED, argreduce_compile_window(&desc, exact, odd, &op));
    REFUSED(ARGREDUCE_WINDOW, argreduce_compile_window(&desc, exact, too_far, &op));
    REFUSED(ARGREDUCE_WINDOW, argreduce_compile_window(&desc, exact, before, &op));
    REFUSED(ARGREDUCE_WINDOW, argreduce_compile_window(&desc, small, start, &op));
    REFUSED(ARGREDUCE_SIZE, argreduce_compile_window(&desc, wrong, start, &op));
    REFUSED(ARGREDUCE_INDEX_TOO_LARGE, argreduce_compile_window(&desc, large, start, &op));
#undef REFUSED
    expect(argreduce_compile_window(&desc, exact, start, NULL) == ARGREDUCE_NULL_POINTER, "a window without out");
    expect(argreduce_compile_window(&desc, exact, start, &op) == ARGREDUCE_OK, "a window");

    char *input = calloc(1, INPUT), *values = malloc(PACKED), *indices = malloc(PACKED);
    partial *structs = malloc(STRUCTS), *others = malloc(STRUCTS);
    if (!input || !values || !indices || !structs || !others) {
        abort();
    }
    memset(values, 0xa5, PACKED), memset(indices, 0xa5, PACKED);
    void *old_values = copy(values, PACKED), *old_indices = copy(indices, PACKED);
#define PARTIALS(...) argreduce_execute_partials(__VA_ARGS__)
#define REFUSED(status, ...) expect(PARTIALS(__VA_ARGS__) == (status), #__VA_ARGS__)
    REFUSED(ARGREDUCE_NULL_POINTER, NULL, input, INPUT, values, PACKED, indices, PACKED);
    REFUSED(ARGREDUCE_NULL_POINTER, op, NULL, INPUT, values, PACKED, indices, PACKED);
    REFUSED(ARGREDUCE_NULL_POINTER, op, input, INPUT, NULL, PACKED, indices, PACKED);
    REFUSED(ARGREDUCE_NULL_POINTER, op, input, INPUT, values, PACKED, NULL, PACKED);
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, op, input, INPUT - 1, values, PACKED, indices, PACKED);
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, op, input, INPUT, values, PACKED - 1, indices, PACKED);
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, op, input, INPUT, values, PACKED, indices, PACKED - 1);
    REFUSED(ARGREDUCE_MISALIGNED, op, input + 1, INPUT - 1, values, PACKED, indices, PACKED);
    REFUSED(ARGREDUCE_MISALIGNED, op, input, INPUT, values + 2, PACKED - 2, indices, PACKED);
    REFUSED(ARGREDUCE_MISALIGNED, op, input, INPUT, values, PACKED, indices + 1, PACKED - 1);
    REFUSED(ARGREDUCE_BUFFERS_OVERLAP, op, input, INPUT, values, PACKED, values, PACKED);
    REFUSED(ARGREDUCE_BUFFERS_OVERLAP, op, input, INPUT, input, PACKED, indices, PACKED);
#undef REFUSED
    expect(memcmp(values, old_values, PACKED) == 0 && memcmp(indices, old_indices, PACKED) == 0, "nothing is written");
    expect(PARTIALS(op, input, INPUT, values, PACKED, indices, PACKED) == ARGREDUCE_OK, "exact buffers of partials");
#undef PARTIALS

    /* Half of the structs have seen nothing yet, and so has one of the others. */
    for (uint32_t n = 0; n < COUNT; ++n) {
        structs[n] = (partial){n % 2 ? 0 : 1, n % 2 ? UINT32_MAX : 3};
        others[n] = (partial){1, n == 5 ? UINT32_MAX : 2};
    }
    partial *old = copy(structs, STRUCTS);
    enum { SPAN = STRUCTS - sizeof(float), STEP = sizeof(partial) };
    const argreduce_pairs acc = {&structs->value, STEP, SPAN, &structs->index, STEP, SPAN};
    const argreduce_pairs other = {&others->value, STEP, SPAN, &others->index, STEP, SPAN};
    argreduce_pairs bad;
#define REFUSED(status, side, change)                                                                                  \
    do {                                                                                                               \
        bad = side, change;                                                                                            \
        const argreduce_pairs *to = &side == &acc ? &bad : &acc, *from = &side == &acc ? &other : &bad;                \
        expect(argreduce_merge(op, COUNT, to, from) == (status), #side ": " #change);                                  \
    } while (0)
    expect(argreduce_merge(NULL, COUNT, &acc, &other) == ARGREDUCE_NULL_POINTER, "no operator");
    expect(argreduce_merge(op, COUNT, NULL, &other) == ARGREDUCE_NULL_POINTER, "acc is NULL");
    expect(argreduce_merge(op, COUNT, &acc, NULL) == ARGREDUCE_NULL_POINTER, "other is NULL");
    REFUSED(ARGREDUCE_NULL_POINTER, acc, bad.values = NULL);
    REFUSED(ARGREDUCE_NULL_POINTER, other, bad.indices = NULL);
    REFUSED(ARGREDUCE_MISALIGNED, acc, bad.indices = (char *)bad.indices + 2);
    REFUSED(ARGREDUCE_MISALIGNED, other, bad.values = (char *)bad.values + 1);
    REFUSED(ARGREDUCE_PAIR_STRIDE, acc, bad.value_stride = STEP - 1);
    REFUSED(ARGREDUCE_PAIR_STRIDE, acc, bad.index_stride = 0);
    REFUSED(ARGREDUCE_PAIR_STRIDE, other, bad.index_stride = 2);
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, acc, bad.value_bytes = SPAN - 1);
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, other, bad.index_bytes = 0);
    REFUSED(ARGREDUCE_BUFFER_TOO_LARGE, acc, bad.index_stride = PTRDIFF_MIN);
    REFUSED(ARGREDUCE_BUFFER_TOO_LARGE, other, (bad.value_stride = PTRDIFF_MAX - 3, bad.value_bytes = SIZE_MAX));
    REFUSED(ARGREDUCE_BUFFERS_OVERLAP, acc, bad.indices = bad.values);
    REFUSED(ARGREDUCE_BUFFERS_OVERLAP, other, bad.values = &structs[COUNT - 1].index);
#undef REFUSED
    expect(argreduce_merge(op, SIZE_MAX, &acc, &other) == ARGREDUCE_BUFFER_TOO_LARGE, "more than memory holds");
    expect(argreduce_merge(op, 0, NULL, NULL) == ARGREDUCE_OK, "nothing to merge");
    expect(memcmp(structs, old, STRUCTS) == 0, "nothing is merged");
    expect(argreduce_merge(op, COUNT, &acc, &other) == ARGREDUCE_OK, "two arrays of structs");
    for (uint32_t n = 0; n < COUNT; ++n) {
        const partial expected = {n == 5 ? 0 : 1, n == 5 ? UINT32_MAX : 2};
        expect(memcmp(&structs[n], &expected, sizeof expected) == 0, "the better of two structs");
    }
    argreduce_release(op);
    free(input), free(values), free(indices), free(structs), free(others);
    free(exact), free(old), free(old_values), free(old_indices);
}

/* Between the elements of a column there may be memory that is somebody else's: here, a page that nobody may touch. */
static void gaps_between_pairs(void) {
    enum { COLUMNS = 4 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const ptrdiff_t stride = (ptrdiff_t)page + 4;
    char *first[COLUMNS];
    for (int n = 0; n < COLUMNS; ++n) {
        char *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0) {
            expect(0, "three pages");
            return;
        }
        first[n] = pages + page - 4; /* and the second one at the start of the last page */
    }
    argreduce_desc desc = good();
    argreduce_operator *op = NULL;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "an operator to merge with");
    for (int backwards = 0; backwards < 2; ++backwards) {
        const float values[COLUMNS / 2][2] = {{1, 4}, {3, 2}};
        const uint32_t indices[COLUMNS / 2][2] = {{5, 6}, {7, 8}};
        argreduce_pairs pairs[COLUMNS / 2];
        for (int side = 0; side < COLUMNS / 2; ++side) {
            char *to_values = first[2 * side], *to_indices = first[2 * side + 1];
            for (int n = 0; n < 2; ++n) {
                memcpy(to_values + n * stride, &values[side][n], 4);
                memcpy(to_indices + n * stride, &indices[side][n], 4);
            }
            const ptrdiff_t start = backwards ? stride : 0, step = backwards ? -stride : stride;
            const size_t bytes = page + 8;
            pairs[side] = (argreduce_pairs){to_values + start, step, bytes, to_indices + start, step, bytes};
        }
        expect(argreduce_merge(op, 2, &pairs[0], &pairs[1]) == ARGREDUCE_OK, "merges across a page of nobody's");
        const float best[2] = {3, 4};
        const uint32_t places[2] = {7, 6};
        for (int n = 0; n < 2; ++n) {
            expect(memcmp(first[0] + n * stride, &best[n], 4) == 0, "the better value");
            expect(memcmp(first[1] + n * stride, &places[n], 4) == 0, "the index of the better value");
        }
    }
    argreduce_release(op);
    for (int n = 0; n < COLUMNS; ++n) {
        munmap(first[n] + 4 - page, 3 * page);
    }
}

/* A call for both, by its arguments: a case changes one of them. Buffers are the input, the mask's, and those of the two
 * indices and the two values, at their exact size. */
enum { INPUT_BUFFER, MASK_BUFFER, MIN_INDICES, MAX_INDICES, MIN_VALUES, MAX_VALUES, BUFFERS };
typedef struct {
    const argreduce_operator *op;
    const argreduce_executor *executor;
    argreduce_mask *mask;
    void *start[BUFFERS];
    size_t bytes[BUFFERS];
} both_call;

static argreduce_status execute_both(both_call call, int is_partial) {
    if (call.mask) {
        call.mask->data = call.start[MASK_BUFFER];
        call.mask->bytes = call.bytes[MASK_BUFFER];
    }
    return (is_partial ? argreduce_execute_partials_both : argreduce_execute_both)(
        call.op, call.executor, call.mask, call.start[INPUT_BUFFER], call.bytes[INPUT_BUFFER], call.start[MIN_INDICES],
        call.bytes[MIN_INDICES], call.start[MAX_INDICES], call.bytes[MAX_INDICES], call.start[MIN_VALUES],
        call.bytes[MIN_VALUES], call.start[MAX_VALUES], call.bytes[MAX_VALUES]);
}

/* What was written, of the outputs. */
static int are_written(const both_call *call) {
    int written = 0;
    for (int n = MIN_INDICES; n < BUFFERS; ++n) {
        for (size_t byte = 0; byte < call->bytes[n]; ++byte) {
            written |= ((unsigned char *)call->start[n])[byte] != 0xa5;
        }
    }
    return written;
}

/* Each buffer in turn: NULL, a byte too short, misaligned, and over a byte of each other. */
static void buffers_of_both(const both_call good, int is_partial) {
    for (int n = 0; n < BUFFERS; ++n) {
        both_call call = good;
#define REFUSED(status, what) expect(execute_both(call, is_partial) == (status), what)
        call.start[n] = NULL;
        REFUSED(ARGREDUCE_NULL_POINTER, "a buffer at NULL");
        call = good;
        --call.bytes[n];
        REFUSED(n == MASK_BUFFER ? ARGREDUCE_MASK_MISMATCH : ARGREDUCE_BUFFER_TOO_SHORT, "a buffer that is too short");
        call.bytes[n] = SIZE_MAX;
        call.start[n] = (void *)UINTPTR_MAX;
        REFUSED(ARGREDUCE_BUFFER_TOO_LARGE, "a buffer beyond memory");
        call = good;
        call.start[n] = (char *)good.start[n] + 1;
        --call.bytes[n];
        REFUSED(n == MASK_BUFFER ? ARGREDUCE_MASK_MISMATCH : ARGREDUCE_MISALIGNED, "a misaligned buffer");
        for (int other = 0; other < BUFFERS; ++other) {
            const int are_read = n < MIN_INDICES && other < MIN_INDICES;
            if (other != n && !are_read) {
                call = good;
                call.start[n] = (char *)good.start[other] + good.bytes[other] - 1;
                REFUSED(ARGREDUCE_BUFFERS_OVERLAP, "two buffers that share a byte");
            }
        }
#undef REFUSED
    }
    expect(!are_written(&good), "both are refused, and nothing is written");
}

/* Both at once: what is refused writes nothing, and what one operator answers takes no operator of both. */
static void both(void) {
    argreduce_desc desc = good();
    argreduce_operator *argmax = NULL, *op = NULL;
    expect(argreduce_compile(&desc, &argmax) == ARGREDUCE_OK, "an argmax");
    desc.function = ARGREDUCE_ARGMINMAX;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "an argminmax");
    size_t input_bytes = 0, output_bytes = 0, values_bytes = 0;
    expect(argreduce_operator_bytes(op, &input_bytes, &output_bytes, &values_bytes) == ARGREDUCE_OK, "bytes of both");
    expect(input_bytes == 96 && output_bytes == 32 && values_bytes == 32, "each output as that of one function");

    float input[24];
    uint8_t there[24];
    for (int n = 0; n < 24; ++n) {
        input[n] = (float)(n * 7 % 11);
        there[n] = n % 12 != 4;
    }
    const argreduce_mask whole = {.size = sizeof whole, .kind = ARGREDUCE_MASK_BYTES, .has_fill = 1, .fill = 7};
    argreduce_mask *mask = copy(&whole, sizeof whole);
    const argreduce_executor threads = {.size = sizeof threads, .parallel_for = in_turn, .width = 3, .min_task_kib = 1};
    const argreduce_executor *executor = copy(&threads, sizeof threads);
    both_call call = {op, executor, mask, {copy(input, sizeof input), copy(there, sizeof there)}, {sizeof input, sizeof there}};
    for (int n = MIN_INDICES; n < BUFFERS; ++n) {
        call.bytes[n] = 32;
        call.start[n] = memset(copy(input, 32), 0xa5, 32);
    }
    const both_call ready = call;
    for (int is_partial = 0; is_partial < 2; ++is_partial) {
        buffers_of_both(ready, is_partial);
#define REFUSED(status, change) (call = ready, change, expect(execute_both(call, is_partial) == (status), #change))
        REFUSED(ARGREDUCE_NULL_POINTER, call.op = NULL);
        REFUSED(ARGREDUCE_UNSUPPORTED_OPERATOR, call.op = argmax);
        REFUSED(is_partial ? ARGREDUCE_BUFFER_TOO_SHORT : ARGREDUCE_NULL_POINTER,
                (call.start[MIN_VALUES] = NULL, call.bytes[MIN_VALUES] = 0));
        REFUSED(is_partial ? ARGREDUCE_BUFFER_TOO_SHORT : ARGREDUCE_NULL_POINTER,
                (call.start[MAX_VALUES] = NULL, call.bytes[MAX_VALUES] = 0));
        REFUSED(ARGREDUCE_MISALIGNED, call.executor = (const argreduce_executor *)(const void *)((const char *)executor + 1));
#undef REFUSED
        mask->kind = 2;
        expect(execute_both(ready, is_partial) == ARGREDUCE_UNKNOWN_VALUE, "another kind of mask");
        *mask = whole;
        mask->size = 0;
        expect(execute_both(ready, is_partial) == ARGREDUCE_UNKNOWN_VALUE, "a mask of no size");
        *mask = whole;
        mask->fill = -1;
        expect(is_partial || execute_both(ready, is_partial) == ARGREDUCE_FILL_OUT_OF_RANGE, "a fill that is no uint32_t");
        *mask = whole;
    }
    void *min = ready.start[MIN_INDICES], *values = ready.start[MIN_VALUES], *from = ready.start[INPUT_BUFFER];
    void *max = ready.start[MAX_INDICES];
    const argreduce_mask *odd = (const argreduce_mask *)(const void *)((const char *)mask + 1);
    expect(argreduce_execute_both(op, NULL, odd, from, 96, min, 32, max, 32, NULL, 0, NULL, 0) == ARGREDUCE_MISALIGNED,
           "a misaligned mask of both");
    const argreduce_pairs pairs = {values, 4, 32, min, 4, 32};
    mask->data = ready.start[MASK_BUFFER];
    mask->bytes = sizeof there;
#define REFUSED(call) expect((call) == ARGREDUCE_UNSUPPORTED_OPERATOR, #call)
    REFUSED(argreduce_execute(op, from, 96, min, 32));
    REFUSED(argreduce_execute_on(op, executor, from, 96, min, 32));
    REFUSED(argreduce_execute_with_values(op, from, 96, min, 32, values, 32));
    REFUSED(argreduce_execute_with_values_on(op, executor, from, 96, min, 32, values, 32));
    REFUSED(argreduce_execute_masked(op, executor, mask, from, 96, min, 32, values, 32));
    REFUSED(argreduce_execute_partials(op, from, 96, values, 32, min, 32));
    REFUSED(argreduce_execute_partials_on(op, executor, from, 96, values, 32, min, 32));
    REFUSED(argreduce_execute_partials_masked(op, executor, mask, from, 96, values, 32, min, 32));
    REFUSED(argreduce_merge(op, 8, &pairs, &pairs));
#undef REFUSED
    expect(!are_written(&ready), "operators of both are refused, and nothing is written");

    /* And what is right: with values and without, with a mask and without, partial or not. */
    for (int code = 0; code < 8; ++code) {
        const int is_partial = code & 1;
        call = ready;
        call.mask = code & 2 ? mask : NULL;
        if (code & 4 && !is_partial) {
            call.start[MIN_VALUES] = call.start[MAX_VALUES] = NULL;
            call.bytes[MIN_VALUES] = call.bytes[MAX_VALUES] = 0;
        }
        expect(execute_both(call, is_partial) == ARGREDUCE_OK, "both at once");
        const uint32_t *smallest = ready.start[MIN_INDICES], *largest = ready.start[MAX_INDICES];
        for (int output = 0; output < 8; ++output) {
            const float *row = input + output / 4 * 12 + output % 4;
            uint32_t least = UINT32_MAX, most = UINT32_MAX;
            for (uint32_t n = 0; n < 3; ++n) {
                if (!call.mask || there[output / 4 * 12 + output % 4 + (int)n * 4]) {
                    least = least == UINT32_MAX || row[4 * n] < row[4 * least] ? n : least;
                    most = most == UINT32_MAX || row[4 * n] > row[4 * most] ? n : most;
                }
            }
            expect(smallest[output] == least && largest[output] == most, "the smallest and the largest");
        }
    }
    argreduce_release(op);
    argreduce_release(argmax);
    for (int n = 0; n < BUFFERS; ++n) {
        free(ready.start[n]);
    }
    free(mask);
    free((void *)executor);
}

int main(void) {
    expect(strcmp(argreduce_last_error(), "") == 0, "no message at first");
    a_long_message();
    messages();
    endings();
    version();
    descriptions();
    sizes_of_buffers();
    buffers();
    every_length();
    narrow_indices();
    threads();
    directml();
    executors();
    masks();
    both();
    parts();
    gaps_between_pairs();
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
