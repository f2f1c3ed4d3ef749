// argreduce from C++17: an operator that releases itself, and failures as exceptions. What is described and called is
// what argreduce.h has. Whoever has no exceptions calls its functions, and keeps the operator in a unique_ptr likewise.
#ifndef ARGREDUCE_HPP
#define ARGREDUCE_HPP

#include <argreduce.h>
#include <memory>
#include <stdexcept>
#include <string>

namespace argreduce {

// What a failure says, and its status.
class Error : public std::runtime_error {
public:
    explicit Error(argreduce_status status) : std::runtime_error(argreduce_last_error()), status_(status) {}
    argreduce_status status() const noexcept { return status_; }

private:
    argreduce_status status_;
};

inline void check(argreduce_status status) {
    if (status != ARGREDUCE_OK) throw Error(status);
}

// A struct of argreduce.h that says nothing yet: zeros, but for its size.
template <class Struct> Struct zeros() noexcept {
    Struct value{};
    value.size = sizeof value;
    return value;
}

// A compiled operator. It can be moved, not copied; what it was moved from has none.
class Operator {
public:
    explicit Operator(const argreduce_desc &desc) {
        argreduce_operator *op = nullptr;
        check(argreduce_compile(&desc, &op));
        op_.reset(op);
    }
    // From a DML_OPERATOR_DESC.
    explicit Operator(const void *dml_operator_desc, uint32_t nan_policy) {
        argreduce_operator *op = nullptr;
        check(argreduce_compile_directml(dml_operator_desc, nan_policy, &op));
        op_.reset(op);
    }
    void run(const argreduce_call &call) const { check(argreduce_run(get(), &call)); }
    // For the other functions of argreduce.h.
    const argreduce_operator *get() const noexcept { return op_.get(); }

private:
    struct Release {
        void operator()(argreduce_operator *op) const noexcept { argreduce_release(op); }
    };
    std::unique_ptr<argreduce_operator, Release> op_;
};

} // namespace argreduce
#endif // ARGREDUCE_HPP
