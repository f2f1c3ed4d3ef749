/* Class scores to labels, from plain C11: once by argreduce's own description, once by DirectML's, once with
 * the worst class beside the best, once from two parts, once without a class, once on threads, and what an
 * error looks like.
 *
 *     cc -std=c11 -o argmax argmax.c $(pkg-config --cflags --libs argreduce) && ./argmax
 */
#include <argreduce.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two images, three classes, two by four pixels. */
enum { IMAGES = 2, CLASSES = 3, HEIGHT = 2, WIDTH = 4, PIXELS = IMAGES * HEIGHT * WIDTH };

static const float scores[IMAGES][CLASSES][HEIGHT][WIDTH] = {
    {{{9, 1, 1, 1}, {1, 9, 1, 1}}, {{1, 9, 9, 1}, {1, 1, 1, 5}}, {{1, 1, 1, 9}, {9, 1, 9, 5}}},
    {{{0, 0, 7, 7}, {0, 0, 7, 7}}, {{0, 0, 7, 0}, {8, 8, 7, 8}}, {{0, 3, 7, 0}, {0, 0, 7, 0}}},
};

static void check(argreduce_status status, const char *what) {
    if (status != ARGREDUCE_OK) {
        fprintf(stderr, "%s: %s (%s)\n", what, argreduce_last_error(), argreduce_status_name(status));
        exit(EXIT_FAILURE);
    }
}

static void print(const char *title, const uint32_t labels[PIXELS]) {
    printf("%s\n", title);
    for (int row = 0; row < IMAGES * HEIGHT; ++row) {
        for (int column = 0; column < WIDTH; ++column) {
            printf(" %" PRIu32, labels[row * WIDTH + column]);
        }
        printf(row % HEIGHT == HEIGHT - 1 ? "\n\n" : "\n");
    }
}

static void by_description(void) {
    const int64_t sizes[] = {IMAGES, CLASSES, HEIGHT, WIDTH};
    const int64_t axes[] = {1};
    const argreduce_desc desc = {
        .size = sizeof desc,
        .function = ARGREDUCE_ARGMAX,
        .input_type = ARGREDUCE_FLOAT32,
        .input = {.rank = 4, .sizes = sizes},
        .index_type = ARGREDUCE_UINT32,
        .axis_count = 1,
        .axes = axes,
        .axis_direction = ARGREDUCE_INCREASING,
        .nan_policy = ARGREDUCE_PROPAGATE,
    };
    argreduce_operator *argmax;
    check(argreduce_compile(&desc, &argmax), "compile");
    size_t input_bytes, index_bytes, value_bytes;
    check(argreduce_operator_bytes(argmax, &input_bytes, &index_bytes, &value_bytes), "bytes");
    printf("bytes of scores, of labels, of their scores: %zu, %zu, %zu\n\n", input_bytes, index_bytes, value_bytes);

    uint32_t labels[PIXELS];
    float best[PIXELS];
    const argreduce_call call = {
        .size = sizeof call,
        .input = scores,
        .input_bytes = sizeof scores,
        .indices = {labels},
        .index_bytes = {sizeof labels},
        .values = {best},
        .value_bytes = {sizeof best},
    };
    check(argreduce_run(argmax, &call), "run");
    print("the first best class of each pixel:", labels);
    printf("the score of the last pixel: %g\n\n", best[PIXELS - 1]);
    argreduce_release(argmax);
}

/* The declarations of DirectML.h, which Windows has. */
typedef struct { int Type; const void *Desc; } DML_OPERATOR_DESC, DML_TENSOR_DESC;
typedef struct {
    int DataType, Flags;
    unsigned DimensionCount;
    const unsigned *Sizes, *Strides;
    uint64_t TotalTensorSizeInBytes;
    unsigned GuaranteedBaseOffsetAlignment;
} DML_BUFFER_TENSOR_DESC;
typedef struct {
    const DML_TENSOR_DESC *InputTensor, *OutputTensor;
    unsigned AxisCount;
    const unsigned *Axes;
    int AxisDirection;
} DML_ARGMAX_OPERATOR_DESC;
enum { DML_TENSOR_TYPE_BUFFER = 1, DML_OPERATOR_ARGMAX = 138, DML_AXIS_DIRECTION_DECREASING = 1 };

static void by_directml(void) {
    const unsigned sizes[] = {IMAGES, CLASSES, HEIGHT, WIDTH}, output_sizes[] = {IMAGES, 1, HEIGHT, WIDTH}, axes[] = {1};
    uint32_t labels[PIXELS];
    const DML_BUFFER_TENSOR_DESC input = {
        .DataType = ARGREDUCE_FLOAT32, .DimensionCount = 4, .Sizes = sizes, .TotalTensorSizeInBytes = sizeof scores};
    const DML_BUFFER_TENSOR_DESC output = {
        .DataType = ARGREDUCE_UINT32, .DimensionCount = 4, .Sizes = output_sizes, .TotalTensorSizeInBytes = sizeof labels};
    const DML_TENSOR_DESC tensors[] = {{DML_TENSOR_TYPE_BUFFER, &input}, {DML_TENSOR_TYPE_BUFFER, &output}};
    const DML_ARGMAX_OPERATOR_DESC desc = {&tensors[0], &tensors[1], 1, axes, DML_AXIS_DIRECTION_DECREASING};
    const DML_OPERATOR_DESC operator_desc = {DML_OPERATOR_ARGMAX, &desc};

    argreduce_operator *argmax;
    check(argreduce_compile_directml(&operator_desc, ARGREDUCE_PROPAGATE, &argmax), "compile from DirectML");
    /* The short way: from one buffer to another. */
    check(argreduce_execute(argmax, scores, sizeof scores, labels, sizeof labels), "execute");
    print("the last best class of each pixel:", labels);
    argreduce_release(argmax);
}

/* One operator for the smallest and the largest. */
static void both_at_once(void) {
    const int64_t sizes[] = {IMAGES, CLASSES, HEIGHT, WIDTH}, axes[] = {1};
    const argreduce_desc desc = {
        .size = sizeof desc,
        .function = ARGREDUCE_ARGMINMAX,
        .input_type = ARGREDUCE_FLOAT32,
        .input = {.rank = 4, .sizes = sizes},
        .index_type = ARGREDUCE_UINT32,
        .axis_count = 1,
        .axes = axes,
    };
    argreduce_operator *argminmax;
    check(argreduce_compile(&desc, &argminmax), "compile both");
    uint32_t worst[PIXELS], labels[PIXELS];
    float lowest[PIXELS], highest[PIXELS];
    const argreduce_call call = {
        .size = sizeof call,
        .input = scores,
        .input_bytes = sizeof scores,
        .indices = {worst, labels},
        .index_bytes = {sizeof worst, sizeof labels},
        .values = {lowest, highest},
        .value_bytes = {sizeof lowest, sizeof highest},
    };
    check(argreduce_run(argminmax, &call), "run both");
    print("the first worst class of each pixel:", worst);
    printf("the scores of the last pixel: %g for class %" PRIu32 " to %g for class %" PRIu32 "\n\n", lowest[PIXELS - 1],
           worst[PIXELS - 1], highest[PIXELS - 1], labels[PIXELS - 1]);
    argreduce_release(argminmax);
}

/* Each image in two parts: its first two classes, and its last one. */
static void by_parts(void) {
    enum { LEFT = 2, RIGHT = CLASSES - LEFT };
    float left[IMAGES][LEFT][HEIGHT][WIDTH], right[IMAGES][RIGHT][HEIGHT][WIDTH];
    for (int image = 0; image < IMAGES; ++image) {
        memcpy(left[image], scores[image], sizeof left[image]);
        memcpy(right[image], scores[image][LEFT], sizeof right[image]);
    }
    const int64_t whole[] = {IMAGES, CLASSES, HEIGHT, WIDTH}, axes[] = {1};
    const int64_t left_sizes[] = {IMAGES, LEFT, HEIGHT, WIDTH}, left_start[] = {0, 0, 0, 0};
    const int64_t right_sizes[] = {IMAGES, RIGHT, HEIGHT, WIDTH}, right_start[] = {0, LEFT, 0, 0};
    argreduce_desc desc = {
        .size = sizeof desc,
        .input_type = ARGREDUCE_FLOAT32,
        .input = {.rank = 4, .sizes = left_sizes},
        .index_type = ARGREDUCE_UINT32,
        .axis_count = 1,
        .axes = axes,
        .whole_sizes = whole,
        .start = left_start,
    };
    argreduce_operator *of_left, *of_right;
    check(argreduce_compile(&desc, &of_left), "compile the first part");
    desc.input.sizes = right_sizes;
    desc.start = right_start;
    check(argreduce_compile(&desc, &of_right), "compile the second part");

    /* The scores and labels of a part lie in two arrays here; an array of structs would do as well. */
    uint32_t labels[PIXELS], right_labels[PIXELS];
    float best[PIXELS], right_best[PIXELS];
    argreduce_call call = {
        .size = sizeof call,
        .input = left,
        .input_bytes = sizeof left,
        .indices = {labels},
        .index_bytes = {sizeof labels},
        .values = {best},
        .value_bytes = {sizeof best},
        .is_partial = 1,
    };
    check(argreduce_run(of_left, &call), "left");
    call.input = right;
    call.input_bytes = sizeof right;
    call.indices[0] = right_labels;
    call.values[0] = right_best;
    check(argreduce_run(of_right, &call), "right");
    const argreduce_pairs acc = {best, sizeof *best, sizeof best, labels, sizeof *labels, sizeof labels};
    const argreduce_pairs other = {right_best, sizeof *right_best, sizeof right_best,
                                   right_labels, sizeof *right_labels, sizeof right_labels};
    check(argreduce_merge(of_left, PIXELS, &acc, &other), "merge");
    print("the first best class of each pixel, from two parts:", labels);
    argreduce_release(of_left);
    argreduce_release(of_right);
}

/* A byte for each class, in all pixels of all images: the first class is not there. */
static void without_a_class(void) {
    const int64_t sizes[] = {IMAGES, CLASSES, HEIGHT, WIDTH}, axes[] = {1}, mask_strides[] = {0, 1, 0, 0};
    const argreduce_desc desc = {
        .size = sizeof desc,
        .function = ARGREDUCE_ARGMAX,
        .input_type = ARGREDUCE_FLOAT32,
        .input = {.rank = 4, .sizes = sizes},
        .index_type = ARGREDUCE_UINT32,
        .axis_count = 1,
        .axes = axes,
    };
    const unsigned char there[CLASSES] = {0, 1, 1};
    const argreduce_mask mask = {
        .size = sizeof mask,
        .data = there,
        .bytes = sizeof there,
        .strides = mask_strides,
        .kind = ARGREDUCE_MASK_BYTES,
    };
    argreduce_operator *argmax;
    check(argreduce_compile(&desc, &argmax), "compile");
    uint32_t labels[PIXELS];
    const argreduce_call call = {
        .size = sizeof call,
        .input = scores,
        .input_bytes = sizeof scores,
        .mask = &mask,
        .indices = {labels},
        .index_bytes = {sizeof labels},
    };
    check(argreduce_run(argmax, &call), "masked");
    print("the first best class of each pixel, but for class 0:", labels);
    argreduce_release(argmax);
}

/* Threads that are started for a call. (A pool would hand tasks to threads that wait.) */
enum { THREADS = 3 };

typedef struct {
    pthread_t thread;
    argreduce_task task;
    void *data;
    size_t first, tasks;
} job;

static void *run(void *argument) {
    const job *job = argument;
    for (size_t n = job->first; n < job->tasks; n += THREADS) {
        job->task(job->data, n);
    }
    return NULL;
}

/* Returns when all tasks have returned. */
static void parallel_for(void *context, argreduce_task task, size_t tasks, void *data) {
    job jobs[THREADS];
    size_t started = 0;
    ++*(int *)context;
    for (size_t n = 0; n < THREADS; ++n) {
        jobs[n] = (job){.task = task, .data = data, .first = n, .tasks = tasks};
    }
    while (started + 1 < THREADS && pthread_create(&jobs[started].thread, NULL, run, &jobs[started]) == 0) {
        ++started;
    }
    /* What no thread was started for is done here. */
    for (size_t n = started; n < THREADS; ++n) {
        run(&jobs[n]);
    }
    for (size_t n = 0; n < started; ++n) {
        pthread_join(jobs[n].thread, NULL);
    }
}

enum { SAMPLES = 200000 };

static void on_threads(void) {
    static float samples[SAMPLES];
    samples[123456] = 2;
    samples[160000] = 2;
    const int64_t sizes[] = {SAMPLES}, axes[] = {0};
    const argreduce_desc desc = {
        .size = sizeof desc,
        .function = ARGREDUCE_ARGMAX,
        .input_type = ARGREDUCE_FLOAT32,
        .input = {.rank = 1, .sizes = sizes},
        .index_type = ARGREDUCE_INT64,
        .axis_count = 1,
        .axes = axes,
    };
    argreduce_operator *argmax;
    check(argreduce_compile(&desc, &argmax), "compile");
    int calls = 0;
    const argreduce_executor executor = {
        .size = sizeof executor, .context = &calls, .parallel_for = parallel_for, .width = THREADS, .min_task_kib = 64};
    int64_t first = -1;
    float loudest = 0;
    const argreduce_call call = {
        .size = sizeof call,
        .input = samples,
        .input_bytes = sizeof samples,
        .executor = &executor,
        .indices = {&first},
        .index_bytes = {sizeof first},
        .values = {&loudest},
        .value_bytes = {sizeof loudest},
    };
    check(argreduce_run(argmax, &call), "run on threads");
    argreduce_release(argmax);
    if (calls != 1) {
        fprintf(stderr, "expected the threads to be asked once\n");
        exit(EXIT_FAILURE);
    }
    printf("the first of the loudest samples, on threads: %" PRId64 ", which is %g\n\n", first, loudest);
}

static void an_error(void) {
    const int64_t sizes[] = {IMAGES, CLASSES}, axes[] = {2};
    const argreduce_desc desc = {
        .size = sizeof desc,
        .input_type = ARGREDUCE_FLOAT32,
        .input = {.rank = 2, .sizes = sizes},
        .index_type = ARGREDUCE_UINT32,
        .axis_count = 1,
        .axes = axes,
    };
    argreduce_operator *none;
    const argreduce_status status = argreduce_compile(&desc, &none);
    if (status != ARGREDUCE_AXIS_OUT_OF_RANGE || none != NULL) {
        fprintf(stderr, "expected an error\n");
        exit(EXIT_FAILURE);
    }
    printf("an error: %s\n", argreduce_last_error());
}

int main(void) {
    by_description();
    by_directml();
    both_at_once();
    by_parts();
    without_a_class();
    on_threads();
    an_error();
    return EXIT_SUCCESS;
}
