// Reading the fields of an op one after the other. What is read is recorded.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "plan/ops/ops.h"
#include "plan/record.h"

namespace fbg {

// A value of an enumeration and what it is called.
template <class E>
struct Choice {
  const char* name;
  E value;
};

// The fields of an op, or those of a list that is a field. Each call reads the next one.
class Fields {
 public:
  using Named = std::vector<std::pair<std::string, FieldValue>>;
  Fields(std::string kind, FieldValue::List given, Named named = {})
      : kind_(std::move(kind)), given_(std::move(given)), named_(std::move(named)) {}

  // Throws std::invalid_argument unless there is a field of that name and type.
  template <class T>
  T get(const char* name) {
    T value{};
    read(name, required(name), value);
    return value;
  }
  // The same of a field that may be left out.
  template <class T>
  std::optional<T> find(const char* name) {
    FieldValue& field = next(name);
    if (std::holds_alternative<std::monostate>(field.is)) return std::nullopt;
    T value{};
    read(name, field, value);
    return value;
  }
  template <class T>
  T get(const char* name, T otherwise) {
    return find<T>(name).value_or(std::move(otherwise));
  }

  // A text that names one of several values.
  template <class E>
  std::optional<E> find_choice(const char* name, std::span<const Choice<E>> choices) {
    const auto text = find<std::string>(name);
    if (!text) return std::nullopt;
    std::vector<std::string> names;
    for (const Choice<E>& choice : choices) {
      if (*text == choice.name) return choice.value;
      names.emplace_back(choice.name);
    }
    refuse_choice(name, names, *text);
  }
  template <class E>
  E choose(const char* name, std::span<const Choice<E>> choices,
           std::optional<E> otherwise = std::nullopt) {
    const std::optional<E> choice = find_choice(name, choices);
    if (!choice && !otherwise) refuse(name, "given");
    return choice ? *choice : *otherwise;
  }
  ValueType type(const char* name, std::optional<ValueType> otherwise = std::nullopt);

  // A matrix of floats that is read where it is; empty where the field is left out.
  SharedMatrix table(const char* name);
  // A table that is read where it is: floats, or fused rows of 8 bits in an array of uint8.
  SharedRows rows(const char* name);
  // A vector of floats, copied to where kernels like it: 64-byte aligned, zeros up to whole panels
  // of columns.
  SharedMatrix vector(const char* name);
  // A vector of int32.
  std::vector<std::int32_t> indices(const char* name);

  // Calls use(fields) for each list of a list.
  template <class Use>
  void for_each(const char* name, Use use) {
    FieldValue::List lists;
    read(name, required(name), lists);
    for (const FieldValue& list : lists) use_list(name, list, use);
  }
  // use(fields) of a list.
  template <class Use>
  auto list(const char* name, Use use) {
    return use_list(name, required(name), use);
  }
  // The same of a list that may be left out.
  template <class Use>
  auto find_list(const char* name, Use use) {
    const FieldValue& field = next(name);
    const bool found = !std::holds_alternative<std::monostate>(field.is);
    return found ? std::optional(use_list(name, field, use)) : std::nullopt;
  }

  bool all_read() const { return next_ == given_.size() && named_.empty(); }
  void require_all_read() const;  // throws std::invalid_argument
  Record record() && { return {std::move(kind_), std::move(read_)}; }

 private:
  FieldValue& next(const char* name);
  FieldValue& required(const char* name);
  Fields sub(const char* name, const FieldValue& field) const;
  template <class Use>
  auto use_list(const char* name, const FieldValue& field, Use& use) const {
    Fields fields = sub(name, field);
    if constexpr (std::is_void_v<decltype(use(fields))>) {
      use(fields);
      fields.require_all_read();
    } else {
      auto result = use(fields);
      fields.require_all_read();
      return result;
    }
  }
  [[noreturn]] void refuse(const char* name, const char* wanted) const;
  [[noreturn]] void refuse_choice(const char* name, const std::vector<std::string>& names,
                                  const std::string& got) const;
  const Array& elements(const char* name, const FieldValue& field, const std::string& dtype,
                        std::size_t rank) const;

  void read(const char* name, const FieldValue& field, std::int64_t& value) const;
  void read(const char* name, const FieldValue& field, std::int32_t& value) const;
  void read(const char* name, const FieldValue& field, bool& value) const;
  void read(const char* name, const FieldValue& field, float& value) const;
  void read(const char* name, const FieldValue& field, FieldValue::List& value) const;
  void read(const char* name, const FieldValue& field, std::vector<Buffer>& value) const;
  template <std::size_t N>
  void read(const char* name, const FieldValue& field, std::array<std::int64_t, N>& value) const {
    const auto numbers = held<std::vector<std::int64_t>>(name, field, "a list of integers");
    if (numbers.size() != N) refuse(name, (std::to_string(N) + " integers").c_str());
    std::copy_n(numbers.begin(), N, value.begin());
  }
  void read(const char* name, const FieldValue& field, std::string& value) const {
    value = held<std::string>(name, field, "a text");
  }
  void read(const char* name, const FieldValue& field, std::vector<std::int64_t>& value) const {
    value = held<std::vector<std::int64_t>>(name, field, "a list of integers");
  }
  void read(const char* name, const FieldValue& field, Array& value) const {
    value = held<Array>(name, field, "an array");
  }
  void read(const char* name, const FieldValue& field, PackedMatrix& value) const {
    value = held<PackedMatrix>(name, field, "a packed matrix");
  }
  void read(const char* name, const FieldValue& field, PackedConv& value) const {
    value = held<PackedConv>(name, field, "packed weights of a convolution");
  }
  template <class T>
  const T& held(const char* name, const FieldValue& field, const char* wanted) const {
    if (const T* value = std::get_if<T>(&field.is)) return *value;
    refuse(name, wanted);
  }

  std::string kind_;
  FieldValue::List given_;
  Named named_, read_;
  std::size_t next_ = 0;  // of those given
};

}  // namespace fbg
