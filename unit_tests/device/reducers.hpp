// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <utility>

namespace gantry::test {

/// A functor with a reducer that is made of two functions, in the form that Reduce and Scan expect.
template <class Functor, class Value, class Init, class Join>
class PairOf {
 public:
  class Reducer {
   public:
    using value_type = Value;
    using reference_type = Value&;
    Reducer(Init init, Join join) : m_init(init), m_join(join) {}
    static constexpr unsigned static_value_size() { return sizeof(Value); }
    unsigned value_count() const { return 1; }
    static Value& reference(Value* value) { return *value; }
    Value& init(Value* value) const { return *std::construct_at(value, m_init()); }
    void join(Value* to, const Value* from) const { m_join(*to, *from); }
    void final(Value*) const {}
    void copy(Value* to, const Value* from) const { *to = *from; }

   private:
    Init m_init;
    Join m_join;
  };
  using functor_type = Functor;
  using reducer_type = Reducer;
  PairOf(Functor functor, Init init, Join join) : m_functor(std::move(functor)), m_reducer(init, join) {}
  const Functor& get_functor() const { return m_functor; }
  const Reducer& get_reducer() const { return m_reducer; }

 private:
  Functor m_functor;
  Reducer m_reducer;
};

template <class Value, class Functor, class Init, class Join>
PairOf<Functor, Value, Init, Join> make_pair_of(Functor functor, Init init, Join join) {
  return {functor, init, join};
}

/// The elements of a run of integers: joining is associative and NOT commutative, so that a wrong order is seen.
struct Run {
  int first = 0;
  int last = -1;
  bool broken = false;
  bool operator==(const Run&) const = default;
};
inline void append(Run& run, const Run& next) {
  run.broken = run.broken || next.broken;
  if (next.last < next.first) return;
  if (run.last < run.first) {
    run.first = next.first;
  } else if (next.first != run.last + 1) {
    run.broken = true;
  }
  run.last = next.last;
}

}  // namespace gantry::test
