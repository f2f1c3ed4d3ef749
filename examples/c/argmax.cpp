// Class scores to labels, from C++17: the operator releases itself, and a failure is an exception. Fields are set one by
// one, as C++17 has no designated initialisers: what is not set is zero, which is its default.
//
//     c++ -std=c++17 -o argmax argmax.cpp $(pkg-config --cflags --libs argreduce) && ./argmax
#include <argreduce.hpp>
#include <iostream>
#include <utility>
#include <vector>

int main() {
    // Two images of three pixels, four classes; a score of NaN is none.
    const int64_t sizes[] = {2, 4, 3}, axes[] = {1};
    std::vector<float> scores(2 * 4 * 3);
    for (std::size_t n = 0; n < scores.size(); ++n) scores[n] = static_cast<float>(n * 7 % 11);

    auto desc = argreduce::zeros<argreduce_desc>();
    desc.function = ARGREDUCE_ARGMAX;
    desc.input_type = ARGREDUCE_FLOAT32;
    desc.input.rank = 3;
    desc.input.sizes = sizes;
    desc.index_type = ARGREDUCE_UINT32;
    desc.axis_count = 1;
    desc.axes = axes;
    desc.nan_policy = ARGREDUCE_IGNORE;
    argreduce::Operator compiled(desc);
    const argreduce::Operator argmax = std::move(compiled);

    std::vector<uint32_t> labels(2 * 3);
    std::vector<float> best(labels.size());
    auto call = argreduce::zeros<argreduce_call>();
    call.input = scores.data();
    call.input_bytes = scores.size() * sizeof scores[0];
    call.indices[0] = labels.data();
    call.index_bytes[0] = labels.size() * sizeof labels[0];
    call.values[0] = best.data();
    call.value_bytes[0] = best.size() * sizeof best[0];
    argmax.run(call);
    for (std::size_t n = 0; n < labels.size(); ++n) {
        std::cout << labels[n] << " with " << best[n] << (n % 3 == 2 ? "\n" : ", ");
        for (std::size_t label = 0; label < 4; ++label) {
            // That none is better.
            if (scores[n / 3 * 12 + label * 3 + n % 3] > best[n]) return 1;
        }
    }

    call.input_bytes -= 1;
    try {
        argmax.run(call);
    } catch (const argreduce::Error &error) {
        std::cout << argreduce_status_name(error.status()) << ": " << error.what() << "\n";
        return error.status() == ARGREDUCE_BUFFER_TOO_SHORT ? 0 : 1;
    }
    return 1;
}
