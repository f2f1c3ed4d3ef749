/* Bad input from outside: each case has its status, leaves a message, and writes nothing. Buffers come from malloc at their exact size, so
 * that valgrind sees a single byte read or written beyond them. (The messages are compared in capi/tests/interface.) */
#define _POSIX_C_SOURCE 200112L
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <argreduce.h>
#include <math.h>
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
        .size = sizeof(argreduce_desc),
        .function = ARGREDUCE_ARGMAX,
        .input_type = ARGREDUCE_FLOAT32,
        .input = {.rank = 3, .sizes = sizes},
        .index_type = ARGREDUCE_UINT32,
        .axis_count = 1,
        .axes = axes,
    };
}

/* Of other sizes and axes. */
static argreduce_desc good_of_rank(uint32_t rank, const int64_t *of_sizes, const int64_t *of_axes) {
    argreduce_desc desc = good();
    desc.input = (argreduce_layout){.rank = rank, .sizes = of_sizes};
    desc.axes = of_axes;
    return desc;
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
    desc = good();
    desc.axis_count = ARGREDUCE_ALL_AXES, desc.axes = NULL;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "all axes");
    argreduce_release(op);
    REFUSED(ARGREDUCE_NULL_POINTER, desc.output.strides = sizes);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.size = 0);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.size = offsetof(argreduce_desc, cumulative) - 1);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.reserved = 1);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.reserved_2 = 1);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.cumulative = 3);
    static const float not_a_number = NAN;
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.key = 3);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.key_value = &not_a_number);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, (desc.key = ARGREDUCE_KEY_MAGNITUDE, desc.key_value = &not_a_number));
    REFUSED(ARGREDUCE_NULL_POINTER, desc.key = ARGREDUCE_KEY_DISTANCE);
    REFUSED(ARGREDUCE_KEY_IS_NAN, (desc.key = ARGREDUCE_KEY_DISTANCE, desc.key_value = &not_a_number));
    REFUSED(ARGREDUCE_MISALIGNED, (desc.key = ARGREDUCE_KEY_DISTANCE, desc.key_value = (const char *)axes + 2));
    REFUSED(ARGREDUCE_CUMULATIVE_MISMATCH, (desc.cumulative = ARGREDUCE_CUMULATIVE, desc.axes = NULL,
                                            desc.axis_count = ARGREDUCE_ALL_AXES));
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.has_fill = 2);
    REFUSED(ARGREDUCE_FILL_OUT_OF_RANGE, (desc.has_fill = 1, desc.fill = -1));
    REFUSED(ARGREDUCE_FILL_OUT_OF_RANGE, (desc.has_fill = 1, desc.fill = INT64_C(1) << 32));
    REFUSED(ARGREDUCE_ISA, desc.isa = "");
    REFUSED(ARGREDUCE_ISA, desc.isa = "\xff a name that is none");
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
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.index_type = 0x103);
    REFUSED(ARGREDUCE_OUTPUT_TYPE, desc.index_type = ARGREDUCE_FLOAT32);
    REFUSED(ARGREDUCE_OUTPUT_TYPE, desc.index_type = ARGREDUCE_INT8);
    REFUSED(ARGREDUCE_OUTPUT_TYPE, desc.index_type = ARGREDUCE_INT16);
    REFUSED(ARGREDUCE_OUTPUT_TYPE, desc.index_type = ARGREDUCE_BOOL);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.axis_direction = 2);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, desc.nan_policy = 2);

    REFUSED(ARGREDUCE_RANK, desc.input.rank = 9);
    REFUSED(ARGREDUCE_RANK, desc.input.rank = UINT32_MAX);
    REFUSED(ARGREDUCE_RANK, (desc.output.rank = 9, desc.output.sizes = sizes));
    REFUSED(ARGREDUCE_TOO_MANY_AXES, desc.axis_count = 4);
    REFUSED(ARGREDUCE_TOO_MANY_AXES, desc.axis_count = ARGREDUCE_ALL_AXES);
    REFUSED(ARGREDUCE_TOO_MANY_AXES, (desc.axis_count = ARGREDUCE_ALL_AXES - 1, desc.axes = NULL));
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
            (desc.index_type = ARGREDUCE_INT32, desc.input.sizes = ((const int64_t[]){1, 1LL << 32, 1}),
             desc.input.strides = ((const int64_t[]){0, 0, 0})));
    REFUSED(ARGREDUCE_INDEX_TOO_LARGE,
            (desc.index_type = ARGREDUCE_UINT8, desc.input.sizes = ((const int64_t[]){1, 257, 1})));
    REFUSED(ARGREDUCE_INDEX_TOO_LARGE,
            (desc.index_type = ARGREDUCE_UINT16, desc.input.sizes = ((const int64_t[]){1, 65537, 1})));

    /* A part of a larger tensor. */
    const int64_t start[] = {0, 3, 0}, too_far[] = {0, 4, 0}, before[] = {0, -1, 0};
    const int64_t whole[] = {2, 6, 4}, small[] = {2, 2, 4}, wrong[] = {2, -6, 4}, large[] = {2, INT64_C(1) << 33, 4};
    int64_t *exact = copy(whole, sizeof whole);
    const int64_t *odd = (const int64_t *)(const void *)((const char *)exact + 4);
    REFUSED(ARGREDUCE_NULL_POINTER, desc.start = start);
    REFUSED(ARGREDUCE_NULL_POINTER, desc.whole_sizes = exact);
    REFUSED(ARGREDUCE_MISALIGNED, (desc.whole_sizes = odd, desc.start = start));
    REFUSED(ARGREDUCE_MISALIGNED, (desc.whole_sizes = exact, desc.start = odd));
    REFUSED(ARGREDUCE_WINDOW, (desc.whole_sizes = exact, desc.start = too_far));
    REFUSED(ARGREDUCE_WINDOW, (desc.whole_sizes = exact, desc.start = before));
    REFUSED(ARGREDUCE_WINDOW, (desc.whole_sizes = small, desc.start = start));
    REFUSED(ARGREDUCE_SIZE, (desc.whole_sizes = wrong, desc.start = start));
    REFUSED(ARGREDUCE_INDEX_TOO_LARGE, (desc.whole_sizes = large, desc.start = start));
    free(exact);
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
    argreduce_release(op);
    free(bytes);
}

#if !defined ARGREDUCE_VERSION_MAJOR || ARGREDUCE_VERSION_MAJOR * 1000 + ARGREDUCE_VERSION_MINOR < 1
#error "a header has a version, which is 0.1 at least"
#endif

static void version(void) {
    const uint32_t header = ARGREDUCE_VERSION_MAJOR << 16 | ARGREDUCE_VERSION_MINOR << 8 | ARGREDUCE_VERSION_PATCH;
    expect(argreduce_version() == header, "the header and the library are of one version");
    expect(strcmp(argreduce_status_name(ARGREDUCE_MASK_MISMATCH), "ARGREDUCE_MASK_MISMATCH") == 0, "the name of a status");
    expect(strcmp(argreduce_status_name(INT32_MIN), "unknown") == 0, "the name of no status");
}

/* What an operator says of itself, in buffers of any size. */
static void descriptions_of_operators(void) {
    argreduce_desc desc = good();
    desc.isa = "portable";
    argreduce_operator *op;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "compile for an instruction set");
    expect(strcmp(argreduce_operator_isa(op), "portable") == 0, "the instruction set that was asked for");
    static const char whole[] = "argmax of f32 [2, 3, 4] over axes [1] to u32 [2, 1, 4]";
    for (size_t bytes = 0; bytes < sizeof whole; ++bytes) {
        char *text = malloc(bytes ? bytes : 1);
        if (!text) {
            abort();
        }
        argreduce_operator_describe(op, text, bytes);
        expect(bytes == 0 || (strlen(text) == bytes - 1 && strncmp(text, whole, bytes - 1) == 0), "a text that is cut");
        free(text);
    }
    char text[2] = "x";
    argreduce_operator_describe(op, NULL, 99);
    argreduce_operator_describe(NULL, text, 2);
    expect(text[0] == 0 && strcmp(argreduce_operator_isa(NULL), "") == 0, "nothing is said of no operator");
    argreduce_release(op);
    argreduce_release(NULL);
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
                const argreduce_call call = {
                    .size = sizeof call, .input = input, .input_bytes = bytes, .indices = {output}, .index_bytes = {12},
                    .values = {values}, .value_bytes = {3 * types[t].size}};
                all_right &= argreduce_run(op, &call) == ARGREDUCE_OK;
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
        desc.index_type = types[t].type;
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

/* A call of all that there may be, at its exact size: a case changes one thing. Its buffers are the input, the mask's,
 * the indices and the values of each answer, each in a block of memory of its own. */
enum { INPUT, MASK, MIN_INDICES, MAX_INDICES, MIN_VALUES, MAX_VALUES, BUFFERS };
typedef struct {
    argreduce_call call;
    argreduce_mask mask;
    argreduce_executor executor;
    void *start[BUFFERS];
    size_t bytes[BUFFERS];
} case_of;

static argreduce_status run(const argreduce_operator *op, case_of it) {
    it.call.input = it.start[INPUT], it.call.input_bytes = it.bytes[INPUT];
    it.mask.data = it.start[MASK], it.mask.bytes = it.bytes[MASK];
    for (int n = 0; n < 2; ++n) {
        it.call.indices[n] = it.start[MIN_INDICES + n], it.call.index_bytes[n] = it.bytes[MIN_INDICES + n];
        it.call.values[n] = it.start[MIN_VALUES + n], it.call.value_bytes[n] = it.bytes[MIN_VALUES + n];
    }
    /* A pointer that is not NULL says that there is one. */
    argreduce_mask *mask = it.call.mask ? copy(&it.mask, sizeof it.mask) : NULL;
    argreduce_executor *executor = it.call.executor ? copy(&it.executor, sizeof it.executor) : NULL;
    it.call.mask = mask, it.call.executor = executor;
    argreduce_call *call = copy(&it.call, sizeof it.call);
    const argreduce_status status = argreduce_run(op, call);
    free(mask), free(executor), free(call);
    return status;
}

/* What was written, of the outputs. */
static int are_written(const case_of *it) {
    int written = 0;
    for (int n = MIN_INDICES; n < BUFFERS; ++n) {
        for (size_t byte = 0; byte < it->bytes[n]; ++byte) {
            written |= ((unsigned char *)it->start[n])[byte] != 0xa5;
        }
    }
    return written;
}

/* Each buffer in turn: NULL, a byte too short, misaligned, beyond memory, and over a byte of each other. */
static void buffers(const argreduce_operator *op, const case_of good) {
    for (int n = 0; n < BUFFERS; ++n) {
        if (good.bytes[n] == 0) {
            continue;
        }
        case_of it = good;
#define REFUSED(status, what) expect(run(op, it) == (status), what)
        it.start[n] = NULL;
        REFUSED(ARGREDUCE_NULL_POINTER, "a buffer at NULL");
        it = good, --it.bytes[n];
        REFUSED(n == MASK ? ARGREDUCE_MASK_MISMATCH : ARGREDUCE_BUFFER_TOO_SHORT, "a buffer that is too short");
        it.bytes[n] = SIZE_MAX, it.start[n] = (void *)UINTPTR_MAX;
        REFUSED(ARGREDUCE_BUFFER_TOO_LARGE, "a buffer beyond memory");
        for (size_t shift = 1; n != MASK && shift < 4; ++shift) {
            it = good, it.start[n] = (char *)good.start[n] + shift;
            REFUSED(ARGREDUCE_MISALIGNED, "a misaligned buffer");
        }
        for (int other = 0; other < BUFFERS; ++other) {
            const int are_read = n <= MASK && other <= MASK;
            if (other != n && !are_read && good.bytes[other] > 0) {
                it = good, it.start[n] = (char *)good.start[other] + good.bytes[other] - 1;
                REFUSED(ARGREDUCE_BUFFERS_OVERLAP, "two buffers that share a byte");
                it.start[n] = good.start[other];
                REFUSED(ARGREDUCE_BUFFERS_OVERLAP, "two buffers at one place");
            }
        }
#undef REFUSED
    }
}

/* Each field in turn, of a call, its mask and its executor. */
static void fields(const argreduce_operator *op, const case_of good, int has_two_answers) {
    static const int64_t strides[] = {12, 4, 1}, far[] = {12, 4, INT64_MAX}, back[] = {12, 4, -1};
    case_of it;
#define REFUSED(status, change) (it = good, change, expect(run(op, it) == (status), #change))
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, it.call.size = 0);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, it.call.size = offsetof(argreduce_call, reserved));
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, it.call.is_partial = 2);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, it.call.reserved = 1);
    const argreduce_status one_side = has_two_answers ? ARGREDUCE_NULL_POINTER : ARGREDUCE_UNSUPPORTED_OPERATOR;
    if (has_two_answers) {
        REFUSED(one_side, (it.start[MIN_VALUES] = NULL, it.bytes[MIN_VALUES] = 0));
        REFUSED(one_side, (it.start[MAX_VALUES] = NULL, it.bytes[MAX_VALUES] = 0));
        REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, (it.start[MAX_INDICES] = NULL, it.bytes[MAX_INDICES] = 0));
    } else {
        REFUSED(one_side, it.start[MAX_INDICES] = it.start[MIN_INDICES]);
        REFUSED(one_side, it.bytes[MAX_INDICES] = 1);
        REFUSED(one_side, it.start[MAX_VALUES] = it.start[MIN_VALUES]);
        REFUSED(one_side, it.bytes[MAX_VALUES] = 1);
    }
    if (good.call.is_partial) {
        it = good;
        it.start[MIN_VALUES] = it.start[MAX_VALUES] = NULL;
        it.bytes[MIN_VALUES] = it.bytes[MAX_VALUES] = 0;
        expect(run(op, it) == ARGREDUCE_NULL_POINTER, "partial answers without values");
    }
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, it.mask.size = sizeof it.mask - 1);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, it.mask.kind = 2);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, it.mask.reserved = 1);
    REFUSED(ARGREDUCE_MASK_MISMATCH, it.mask.offset = 1);
    REFUSED(ARGREDUCE_MASK_MISMATCH, it.mask.offset = -1);
    REFUSED(ARGREDUCE_MASK_MISMATCH, it.mask.offset = INT64_MAX);
    REFUSED(ARGREDUCE_MASK_MISMATCH, it.mask.strides = far);
    REFUSED(ARGREDUCE_MASK_MISMATCH, it.mask.strides = back);
    REFUSED(ARGREDUCE_MISALIGNED, it.mask.strides = (const int64_t *)(const void *)((const char *)strides + 1));
    REFUSED(ARGREDUCE_MASK_MISMATCH, (it.mask.strides = strides, it.mask.kind = ARGREDUCE_MASK_BITS));
    REFUSED(ARGREDUCE_MASK_MISMATCH, (it.mask.kind = ARGREDUCE_MASK_BITS, it.bytes[MASK] = 2));
    expect(strcmp(argreduce_last_error(), "the mask has 16 bits: the input needs 24") == 0, "how many bits");
    REFUSED(ARGREDUCE_MASK_MISMATCH, (it.mask.kind = ARGREDUCE_MASK_BITS, it.bytes[MASK] = 3, it.mask.offset = 1));
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, it.executor.size = sizeof(size_t));
    REFUSED(ARGREDUCE_NULL_POINTER, it.executor.parallel_for = NULL);
#undef REFUSED
    expect(run(NULL, good) == ARGREDUCE_NULL_POINTER, "no operator");
    expect(argreduce_run(op, NULL) == ARGREDUCE_NULL_POINTER, "no call");
    const argreduce_call *odd = (const argreduce_call *)(const void *)((const char *)&good.call + 1);
    expect(argreduce_run(op, odd) == ARGREDUCE_MISALIGNED, "a misaligned call");
    it = good;
    argreduce_call call = it.call;
    call.mask = (const argreduce_mask *)(const void *)((const char *)&it.mask + 1);
    expect(argreduce_run(op, &call) == ARGREDUCE_MISALIGNED, "a misaligned mask");
    call.mask = NULL, call.executor = (const argreduce_executor *)(const void *)((const char *)&it.executor + 1);
    expect(argreduce_run(op, &call) == ARGREDUCE_MISALIGNED, "a misaligned executor");
}

/* What is right, by a plain loop: with values or without, under a mask or not, on threads or not. */
static void answers(const argreduce_operator *op, const case_of good, int has_two_answers) {
    const float *input = good.start[INPUT];
    const unsigned char *there = good.start[MASK];
    for (int code = 0; code < 8; ++code) {
        case_of it = good;
        it.call.mask = code & 1 ? &it.mask : NULL;
        it.call.executor = code & 2 ? &it.executor : NULL;
        if (code & 4 && !good.call.is_partial) {
            it.start[MIN_VALUES] = it.start[MAX_VALUES] = NULL;
            it.bytes[MIN_VALUES] = it.bytes[MAX_VALUES] = 0;
        }
        expect(run(op, it) == ARGREDUCE_OK, "a call of all that there may be");
        for (size_t output = 0; output < 8; ++output) {
            const size_t first = output / 4 * 12 + output % 4;
            const uint32_t none = good.call.is_partial ? UINT32_MAX : 77;
            uint32_t least = none, most = none;
            for (uint32_t n = 0; n < 3; ++n) {
                if (!it.call.mask || there[first + n * 4]) {
                    least = least == none || input[first + n * 4] < input[first + least * 4] ? n : least;
                    most = most == none || input[first + n * 4] > input[first + most * 4] ? n : most;
                }
            }
            const uint32_t *found[2] = {good.start[MIN_INDICES], good.start[MAX_INDICES]};
            const float *values = good.start[MIN_VALUES];
            const uint32_t index = has_two_answers ? least : most;
            const float value = index == none ? 0 : input[first + index * 4];
            expect(found[0][output] == index && (!it.bytes[MIN_VALUES] || values[output] == value), "an answer");
            expect(!has_two_answers || found[1][output] == most, "the largest");
        }
    }
}

static void calls(void) {
    float input[24];
    unsigned char there[24];
    for (int n = 0; n < 24; ++n) {
        input[n] = (float)(n * 7 % 11);
        there[n] = n % 12 != 4 && n % 4 != 3;
    }
    for (int which = 0; which < 4; ++which) {
        const int has_two_answers = which & 1, is_partial = which >> 1;
        argreduce_desc desc = good();
        desc.function = has_two_answers ? ARGREDUCE_ARGMINMAX : ARGREDUCE_ARGMAX;
        desc.has_fill = 1, desc.fill = 77;
        argreduce_operator *op;
        expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "compile");
        size_t bytes[3] = {0};
        expect(argreduce_operator_bytes(op, &bytes[0], &bytes[1], &bytes[2]) == ARGREDUCE_OK, "bytes");
        expect(bytes[0] == 96 && bytes[1] == 32 && bytes[2] == 32, "each output as that of one function");
        case_of it = {
            .call = {.size = sizeof it.call, .is_partial = (uint32_t)is_partial},
            .mask = {.size = sizeof it.mask, .kind = ARGREDUCE_MASK_BYTES},
            .executor = {.size = sizeof it.executor, .parallel_for = in_turn, .width = 3, .min_task_kib = 1},
            .start = {copy(input, sizeof input), copy(there, sizeof there)},
            .bytes = {sizeof input, sizeof there},
        };
        it.call.mask = &it.mask, it.call.executor = &it.executor;
        for (int n = MIN_INDICES; n < BUFFERS; n += has_two_answers ? 1 : 2) {
            it.bytes[n] = 32;
            it.start[n] = memset(copy(input, 32), 0xa5, 32);
        }
        buffers(op, it);
        fields(op, it, has_two_answers);
        expect(!are_written(&it), "calls are refused, and nothing is written");
        answers(op, it, has_two_answers);
        argreduce_release(op);
        for (int n = 0; n < BUFFERS; ++n) {
            free(it.start[n]);
        }
    }
}

/* The short way. */
static void executing(void) {
    argreduce_desc desc = good();
    argreduce_operator *op, *both;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "compile");
    desc.function = ARGREDUCE_ARGMINMAX;
    expect(argreduce_compile(&desc, &both) == ARGREDUCE_OK, "compile both");
    enum { FROM = 24 * sizeof(float), TO = 8 * sizeof(uint32_t) };
    char *input = calloc(1, FROM), *indices = malloc(TO), *untouched = malloc(TO);
    if (!input || !indices || !untouched) {
        abort();
    }
    memset(indices, 0xa5, TO);
    memset(untouched, 0xa5, TO);
#define REFUSED(status, ...) expect(argreduce_execute(__VA_ARGS__) == (status), #__VA_ARGS__)
    REFUSED(ARGREDUCE_NULL_POINTER, NULL, input, FROM, indices, TO);
    REFUSED(ARGREDUCE_NULL_POINTER, op, NULL, FROM, indices, TO);
    REFUSED(ARGREDUCE_NULL_POINTER, op, input, FROM, NULL, TO);
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, op, NULL, 0, indices, TO);
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, op, input, FROM - 1, indices, TO);
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, op, input, FROM, indices, TO - 1);
    REFUSED(ARGREDUCE_MISALIGNED, op, input + 1, FROM, indices, TO);
    REFUSED(ARGREDUCE_MISALIGNED, op, input, FROM, indices + 2, TO);
    REFUSED(ARGREDUCE_BUFFERS_OVERLAP, op, input, FROM, input + FROM - 4, TO);
    REFUSED(ARGREDUCE_BUFFER_TOO_LARGE, op, input, FROM, (void *)UINTPTR_MAX, SIZE_MAX);
    REFUSED(ARGREDUCE_UNSUPPORTED_OPERATOR, both, input, FROM, indices, TO);
#undef REFUSED
    expect(memcmp(indices, untouched, TO) == 0, "nothing is written");
    expect(argreduce_execute(op, input, FROM, indices, TO) == ARGREDUCE_OK, "exact buffers");
    const argreduce_pairs pairs = {input, 4, 32, indices, 4, 32};
    expect(argreduce_merge(both, 8, &pairs, &pairs) == ARGREDUCE_UNSUPPORTED_OPERATOR, "an operator of both merges nothing");
    argreduce_release(op);
    argreduce_release(both);
    free(input), free(indices), free(untouched);
}

/* One byte for a whole tensor, of which then nothing is there; and without a fill. */
static void nothing_there(void) {
    argreduce_desc desc = good();
    argreduce_operator *op;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "compile without a fill");
    float input[24] = {0};
    uint32_t indices[8];
    const int64_t none[] = {0, 0, 0};
    unsigned char *there = calloc(1, 1);
    /* As of a later version: what is beyond is nobody's. */
    const argreduce_mask mask = {
        .size = sizeof mask + 64, .data = there, .bytes = 1, .strides = none, .kind = ARGREDUCE_MASK_BYTES};
    argreduce_mask *exact = copy(&mask, sizeof mask);
    const argreduce_call call = {
        .size = sizeof call, .input = input, .input_bytes = sizeof input, .mask = exact,
        .indices = {indices}, .index_bytes = {sizeof indices}};
    expect(argreduce_run(op, &call) == ARGREDUCE_NOTHING_THERE, "nothing is there");
    expect(strstr(argreduce_last_error(), "for output [0, 0, 0]") != NULL, "the first output");
    argreduce_release(op);
    free(exact), free(there);
}

/* Its size says how much there is of a struct; the next page is nobody's. */
static void sizes_of_structs(void) {
    const long page_or_error = sysconf(_SC_PAGESIZE);
    const size_t page = (size_t)page_or_error;
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page_or_error <= 0 || pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0) {
        abort();
    }
    float input[24] = {0};
    uint32_t indices[8];
    unsigned char there[24];
    memset(there, 1, sizeof there);
    const argreduce_desc desc = good();
    const argreduce_mask mask = {.size = sizeof mask, .data = there, .bytes = sizeof there, .kind = ARGREDUCE_MASK_BYTES};
    const argreduce_executor executor = {.size = sizeof executor, .parallel_for = in_turn, .width = 2};
    const argreduce_call call = {
        .size = sizeof call, .input = input, .input_bytes = sizeof input, .mask = &mask, .executor = &executor,
        .indices = {indices}, .index_bytes = {sizeof indices}};
    /* What the first versions had, which stays the least that is taken; and what those between had. */
    const size_t first_call = offsetof(argreduce_call, reserved) + sizeof call.reserved;
    const size_t first_mask = offsetof(argreduce_mask, reserved) + sizeof mask.reserved;
    const size_t first_executor = offsetof(argreduce_executor, min_task_kib) + sizeof executor.min_task_kib;
    const struct { const void *whole; size_t first, second, last; } structs[] = {
        {&desc, offsetof(argreduce_desc, isa) + sizeof desc.isa, offsetof(argreduce_desc, reserved_2) + sizeof desc.reserved_2,
         sizeof desc},
        {&call, first_call, first_call, sizeof call},
        {&mask, first_mask, first_mask, sizeof mask},
        {&executor, first_executor, first_executor, sizeof executor},
    };
    for (size_t which = 0; which < sizeof structs / sizeof *structs; ++which) {
        const size_t first = structs[which].first, second = structs[which].second, last = structs[which].last;
        const size_t sizes_of_it[] = {0, sizeof(size_t), first - 1, first, first + 1, second, second + 1, last - 1, last,
                                      last + 1, page, SIZE_MAX};
        for (size_t n = 0; n < sizeof sizes_of_it / sizeof *sizes_of_it; ++n) {
            /* Of one that is too small, there is nothing but its size; of others, what the version has that they cover. */
            const int is_enough = sizes_of_it[n] >= first;
            const size_t version = sizes_of_it[n] >= second ? second : first;
            const size_t bytes = sizes_of_it[n] >= last ? last : is_enough ? version : sizeof(size_t);
            void *at_the_end = pages + page - bytes;
            memcpy(at_the_end, structs[which].whole, bytes);
            memcpy(at_the_end, &sizes_of_it[n], sizeof(size_t));
            argreduce_call changed = call;
            changed.mask = which == 2 ? at_the_end : &mask;
            changed.executor = which == 3 ? at_the_end : &executor;
            argreduce_operator *op;
            argreduce_status status = argreduce_compile(which == 0 ? at_the_end : &desc, &op);
            if (status == ARGREDUCE_OK) {
                status = argreduce_run(op, which == 1 ? at_the_end : &changed);
            }
            expect(status == (is_enough ? ARGREDUCE_OK : ARGREDUCE_UNKNOWN_VALUE), "a struct of the first version, or of another");
            expect(is_enough || strstr(argreduce_last_error(), "->size is ") != NULL, "which size is too small");
            argreduce_release(op);
        }
    }
    munmap(pages, 2 * page);
}

/* Two arrays of structs, at their exact size. */
static void merging(void) {
    typedef struct { float value; uint32_t index; } partial;
    enum { COUNT = 8, STRUCTS = COUNT * sizeof(partial) };
    argreduce_desc desc = good();
    argreduce_operator *op;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "an operator to merge with");
    partial *structs = malloc(STRUCTS), *others = malloc(STRUCTS);
    if (!structs || !others) {
        abort();
    }
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
    free(structs), free(others), free(old);
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

/* Offsets of segments: right ones of each type, and what is refused of them. */
static argreduce_operator *of_segments(uint32_t function) {
    static const int64_t one[] = {1}, first[] = {0};
    const argreduce_desc desc = {
        .size = sizeof desc, .function = function, .input_type = ARGREDUCE_FLOAT32,
        .input = {.rank = 1, .sizes = one}, .index_type = ARGREDUCE_UINT32, .axis_count = 1, .axes = first,
        .fill = 77, .has_fill = 1};
    argreduce_operator *op;
    expect(argreduce_compile(&desc, &op) == ARGREDUCE_OK, "an operator for segments");
    return op;
}

static void segments(void) {
    enum { VALUES = 6, SEGMENTS = 4 };
    const float of_input[VALUES] = {1, 5, 5, 0, 7, 2};
    const int64_t bounds[SEGMENTS + 1] = {0, 3, 3, 5, 6};
    const uint32_t most[2][SEGMENTS] = {{1, 77, 1, 0}, {1, 77, 4, 5}};
    const float values_of_most[SEGMENTS] = {5, 0, 7, 2};
    argreduce_operator *op = of_segments(ARGREDUCE_ARGMAX), *both = of_segments(ARGREDUCE_ARGMINMAX);
    const float *input = copy(of_input, sizeof of_input);
    uint32_t *indices = malloc(SEGMENTS * sizeof *indices), *others = malloc(SEGMENTS * sizeof *others);
    float *values = malloc(SEGMENTS * sizeof *values);
    unsigned char *there = copy("\x01\x00\x01\x01\x00\x01", VALUES);
    if (!indices || !others || !values) {
        abort();
    }
    int32_t narrow[SEGMENTS + 1];
    for (int n = 0; n <= SEGMENTS; ++n) {
        narrow[n] = (int32_t)bounds[n];
    }
    int64_t *wide = copy(bounds, sizeof bounds);
    int32_t *exact = copy(narrow, sizeof narrow);
    const argreduce_call good = {
        .size = sizeof good, .input = input, .input_bytes = sizeof of_input, .indices = {indices},
        .index_bytes = {SEGMENTS * sizeof *indices}, .values = {values}, .value_bytes = {SEGMENTS * sizeof *values},
        .offsets = wide, .offset_count = SEGMENTS + 1, .offset_type = ARGREDUCE_INT64};
    argreduce_call call = good;
    const uint32_t types[] = {ARGREDUCE_INT64, ARGREDUCE_UINT64, ARGREDUCE_INT32, ARGREDUCE_UINT32};
    for (int n = 0; n < 8; ++n) {
        call.offset_type = types[n / 2], call.is_absolute = (uint32_t)n % 2;
        call.offsets = n < 4 ? (const void *)wide : exact;
        expect(argreduce_run(op, &call) == ARGREDUCE_OK, "segments");
        expect(memcmp(indices, most[n % 2], sizeof most[0]) == 0, "the largest of each");
        expect(memcmp(values, values_of_most, sizeof values_of_most) == 0, "their values");
    }
    const argreduce_mask mask = {.size = sizeof mask, .data = there, .bytes = VALUES, .kind = ARGREDUCE_MASK_BYTES};
    const argreduce_executor executor = {.size = sizeof executor, .parallel_for = in_turn, .width = 3};
    const uint32_t masked[SEGMENTS] = {2, 77, 0, 0};
    call = good, call.mask = &mask, call.executor = &executor;
    expect(argreduce_run(op, &call) == ARGREDUCE_OK, "segments under a mask");
    expect(memcmp(indices, masked, sizeof masked) == 0, "what is there of each");
    const uint32_t least[SEGMENTS] = {0, 77, 0, 0};
    call = good, call.indices[1] = others, call.index_bytes[1] = SEGMENTS * sizeof *others;
    call.values[0] = NULL, call.value_bytes[0] = 0;
    expect(argreduce_run(both, &call) == ARGREDUCE_OK, "segments, of both");
    expect(memcmp(indices, least, sizeof least) == 0 && memcmp(others, most[0], sizeof least) == 0, "both of each");

    memset(indices, 0xa5, SEGMENTS * sizeof *indices), memset(values, 0xa5, SEGMENTS * sizeof *values);
#define REFUSED(status, change)                                                                                        \
    do {                                                                                                               \
        call = good, change;                                                                                           \
        expect(argreduce_run(op, &call) == (status), #change);                                                         \
        memcpy(wide, bounds, sizeof bounds);                                                                           \
    } while (0)
    REFUSED(ARGREDUCE_SEGMENT_OFFSET, wide[0] = -1);
    REFUSED(ARGREDUCE_SEGMENT_OFFSET, wide[2] = 2);
    REFUSED(ARGREDUCE_SEGMENT_OFFSET, wide[4] = INT64_MIN);
    REFUSED(ARGREDUCE_SEGMENT_OFFSET, (wide[4] = -1, call.offset_type = ARGREDUCE_UINT64));
    REFUSED(ARGREDUCE_SEGMENT_OFFSET, (call.offset_count = 0, call.offsets = indices));
    REFUSED(ARGREDUCE_SEGMENT_OFFSET, wide[4] = 7);
    expect(strcmp(argreduce_last_error(), "offset 7 at position 4, where segment 3 ends, is out of range: 5 to 6 are allowed") == 0, "which segment");
    REFUSED(ARGREDUCE_INDEX_TOO_LARGE, wide[4] = INT64_MAX);
    REFUSED(ARGREDUCE_SEGMENT_OFFSET, call.input_bytes = 5 * sizeof *input);
    REFUSED(ARGREDUCE_SEGMENT_OFFSET, (call.input = NULL, call.input_bytes = 0));
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, call.offset_type = ARGREDUCE_FLOAT32);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, call.offset_type = 0);
    REFUSED(ARGREDUCE_UNKNOWN_VALUE, call.is_absolute = 2);
    REFUSED(ARGREDUCE_SEGMENTS_MISMATCH, call.is_partial = 1);
    REFUSED(ARGREDUCE_MISALIGNED, call.offsets = (const char *)wide + 1);
    REFUSED(ARGREDUCE_MISALIGNED, call.offsets = (const char *)wide + 4);
    REFUSED(ARGREDUCE_NULL_POINTER, call.offsets = NULL);
    REFUSED(ARGREDUCE_NULL_POINTER, (call.offsets = NULL, call.offset_count = 0));
    REFUSED(ARGREDUCE_NULL_POINTER, (call.offsets = NULL, call.offset_count = 0, call.offset_type = 0, call.is_absolute = 1));
    REFUSED(ARGREDUCE_BUFFER_TOO_LARGE, call.offset_count = SIZE_MAX);
    REFUSED(ARGREDUCE_BUFFER_TOO_LARGE, call.offset_count = SIZE_MAX / 8);
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, call.index_bytes[0] -= 1);
    REFUSED(ARGREDUCE_BUFFER_TOO_SHORT, call.value_bytes[0] -= 1);
    REFUSED(ARGREDUCE_BUFFERS_OVERLAP, (call.offsets = indices, call.offset_type = ARGREDUCE_INT32, call.offset_count = 2));
    argreduce_mask less = mask;
    less.bytes = VALUES - 1;
    REFUSED(ARGREDUCE_MASK_MISMATCH, call.mask = &less);
#undef REFUSED
    for (int n = 0; n < SEGMENTS; ++n) {
        expect(indices[n] == 0xa5a5a5a5, "nothing is written");
    }
    /* Operators that segments are not for. */
    const int64_t two[] = {2, 3}, stride[] = {2}, axis[] = {0};
    argreduce_desc descs[] = {good_of_rank(2, two, axis), good_of_rank(1, two, axis), good_of_rank(1, two, axis)};
    descs[1].input.strides = stride;
    descs[2].cumulative = ARGREDUCE_CUMULATIVE;
    for (size_t n = 0; n < sizeof descs / sizeof *descs; ++n) {
        argreduce_operator *other;
        expect(argreduce_compile(&descs[n], &other) == ARGREDUCE_OK, "another operator");
        call = good;
        expect(argreduce_run(other, &call) == ARGREDUCE_SEGMENTS_MISMATCH, "segments are not for it");
        argreduce_release(other);
    }
    argreduce_release(op), argreduce_release(both);
    free((void *)input), free(indices), free(others), free(values), free(there), free(wide), free(exact);
}

/* Another thread changes offsets while segments are answered: whatever becomes of them, nothing beyond the input is read,
 * and nothing beyond the outputs written. (valgrind and sanitizers see it, and so do the pages behind the input.) */
enum { CHANGED = 2000 };
typedef struct { volatile int64_t *offsets; volatile int is_over; } changing;

static void *change(void *of) {
    changing *it = of;
    const int64_t wild[] = {-1, 0, INT64_MAX, INT64_MIN, CHANGED * 5 + 1, CHANGED * 5, (int64_t)1 << 40, 7};
    for (unsigned n = 0; !it->is_over; ++n) {
        const unsigned at = n * 7919 % (CHANGED + 1);
        it->offsets[at] = wild[n % 8];
        it->offsets[at] = (int64_t)at * 5;
    }
    return it;
}

static void changing_segments(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = CHANGED * 5 * sizeof(float);
    const size_t whole = (bytes + page - 1) / page * page;
    char *pages = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int64_t *offsets = malloc((CHANGED + 1) * sizeof *offsets);
    uint32_t *indices = malloc(CHANGED * sizeof *indices);
    if (pages == MAP_FAILED || mprotect(pages + whole, page, PROT_NONE) != 0 || !offsets || !indices) {
        abort();
    }
    for (int64_t n = 0; n <= CHANGED; ++n) {
        offsets[n] = n * 5;
    }
    argreduce_operator *op = of_segments(ARGREDUCE_ARGMAX);
    const argreduce_executor executor = {.size = sizeof executor, .parallel_for = in_turn, .width = 3};
    argreduce_call call = {
        .size = sizeof call, .input = pages + whole - bytes, .input_bytes = bytes, .indices = {indices},
        .index_bytes = {CHANGED * sizeof *indices}, .offsets = offsets, .offset_count = CHANGED + 1,
        .offset_type = ARGREDUCE_INT64};
    changing it = {offsets, 0};
    pthread_t other;
    expect(pthread_create(&other, NULL, change, &it) == 0, "a thread starts");
    int are_as_said = 1;
    for (int n = 0; n < 3000; ++n) {
        call.executor = n % 2 ? &executor : NULL;
        const argreduce_status status = argreduce_run(op, &call);
        are_as_said &= status == ARGREDUCE_OK || status == ARGREDUCE_SEGMENT_OFFSET || status == ARGREDUCE_INDEX_TOO_LARGE;
    }
    it.is_over = 1;
    void *result = NULL;
    expect(pthread_join(other, &result) == 0 && result == &it, "a thread ends");
    expect(are_as_said, "an answer, or an error of offsets");
    argreduce_release(op);
    free(offsets), free(indices), munmap(pages, whole + page);
}

int main(void) {
    expect(strcmp(argreduce_last_error(), "") == 0, "no message at first");
    a_long_message();
    messages();
    endings();
    version();
    descriptions();
    sizes_of_buffers();
    descriptions_of_operators();
    calls();
    executing();
    nothing_there();
    sizes_of_structs();
    every_length();
    narrow_indices();
    threads();
    directml();
    merging();
    gaps_between_pairs();
    segments();
    changing_segments();
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
