// Fields of ops by type. Messages name the op and the field.
#include "plan/fields.h"

#include <cmath>
#include <limits>
#include <memory>

#include "core/memory.h"
#include "plan/ops/ops.h"

namespace fbg {

std::span<const Choice<ValueType>> choices(ValueType) {
  static constexpr Choice<ValueType> kTypes[] = {
      {"float32", ValueType::float32}, {"bfloat16", ValueType::bfloat16},
      {"float16", ValueType::float16}, {"uint8", ValueType::uint8},
      {"int8", ValueType::int8},       {"int32", ValueType::int32}};
  return kTypes;
}

void Fields::refuse(const char* name, const std::string& wanted) const {
  throw std::invalid_argument(kind_ + ": " + name + " must be " + wanted);
}

FieldValue Fields::next(const char* name) {
  if (next_ < given_.size()) return std::move(given_[next_++]);
  const auto found = std::ranges::find(named_, name, &Graph::Named::value_type::first);
  if (found == named_.end()) return {};
  FieldValue field = std::move(found->second);
  named_.erase(found);
  return field;
}

FieldValue Fields::required(const char* name) {
  FieldValue field = next(name);
  require(!std::holds_alternative<std::monostate>(field.is), kind_ + ": " + name + " is missing");
  return field;
}

void Fields::require_all_read() const {
  require(next_ == given_.size(), kind_ + ": takes " + std::to_string(next_) + " fields, got " +
                                      std::to_string(given_.size()));
  require(named_.empty(),
          kind_ + ": there is no field " + (named_.empty() ? "" : named_.front().first));
}

const Array& Fields::elements(const char* name, const FieldValue& field, const std::string& dtype,
                              std::size_t rank) const {
  const Array& array = held<Array>(name, field, "an array");
  const std::string what = kind_ + ": " + name + " must ";
  require(array.dtype == dtype, what + "hold " + dtype + ", got " + array.dtype);
  require(array.shape.size() == rank, what + "be " + std::to_string(rank) + "-D");
  return array;
}

SharedMatrix Fields::table(const char* name) {
  const FieldValue field = next(name);
  if (std::holds_alternative<std::monostate>(field.is)) return {};
  const Array& array = elements(name, field, "float32", 2);
  const auto* data = reinterpret_cast<const float*>(array.data.get());
  return {{array.data, data}, array.shape[0], array.shape[1]};
}

SharedRows Fields::rows(const char* name) {
  const FieldValue field = required(name);
  const Array& array = held<Array>(name, field, "an array");
  RowLayout layout;
  if (array.dtype == "uint8") layout.format = RowFormat::int8;
  elements(name, field, is_integer(layout.format) ? "uint8" : "float32", 2);
  // A row without columns has only what is beside the values.
  layout.columns = static_cast<std::int32_t>(array.shape[1] - layout.row_bytes());
  return {array.data, layout, array.shape[0]};
}

SharedMatrix Fields::vector(const char* name) {
  const FieldValue field = next(name);
  if (std::holds_alternative<std::monostate>(field.is)) return {};
  const Array& array = elements(name, field, "float32", 1);
  const std::int64_t n = array.shape[0],
                     padded = round_up(std::max<std::int64_t>(n, 1), kPanelColumns);
  auto buffer = std::make_shared<AlignedBuffer>(checked_bytes(static_cast<std::size_t>(padded), 4),
                                                Fill::zero);
  std::copy_n(array.data.get(), array.nbytes, buffer->as<std::byte>());
  return {{buffer, buffer->as<float>()}, 1, n};
}

std::vector<std::int32_t> Fields::indices(const char* name) {
  const FieldValue field = next(name);
  if (std::holds_alternative<std::monostate>(field.is)) return {};
  const Array& array = elements(name, field, "int32", 1);
  const auto* data = reinterpret_cast<const std::int32_t*>(array.data.get());
  return {data, data + array.shape[0]};
}

void Fields::read(const char* name, const FieldValue& field, std::int64_t& value) const {
  value = held<std::int64_t>(name, field, "an integer");
}

void Fields::read(const char* name, const FieldValue& field, std::int32_t& value) const {
  const std::int64_t number = held<std::int64_t>(name, field, "an integer");
  value = static_cast<std::int32_t>(number);
  if (value != number) refuse(name, "an integer of 32 bits");
}

void Fields::read(const char* name, const FieldValue& field, bool& value) const {
  value = held<std::int64_t>(name, field, "true or false") != 0;
}

void Fields::read(const char* name, const FieldValue& field, float& value) const {
  const auto* integer = std::get_if<std::int64_t>(&field.is);
  value = integer ? static_cast<float>(*integer)
                  : static_cast<float>(held<double>(name, field, "a number"));
}

void Fields::read(const char* name, const FieldValue& field, FieldValue::List& value) const {
  const auto* numbers = std::get_if<std::vector<std::int64_t>>(&field.is);
  if (!numbers) value = held<FieldValue::List>(name, field, "a list");
  for (const std::int64_t number : numbers ? *numbers : std::vector<std::int64_t>{})
    value.emplace_back().is = number;
}

void Fields::read(const char* name, const FieldValue& field, std::vector<Buffer>& value) const {
  FieldValue number;
  for (const std::int64_t buffer :
       held<std::vector<std::int64_t>>(name, field, "a list of buffers")) {
    number.is = buffer;
    read(name, number, value.emplace_back());
  }
}

}  // namespace fbg
