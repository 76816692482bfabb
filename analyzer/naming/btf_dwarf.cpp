// SPDX-License-Identifier: GPL-3.0-or-later
#include "analyzer/naming/btf_dwarf.h"

#include "analyzer/naming/btf_types.h"
#include "analyzer/symbols/kallsyms.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dwarf.h>
#include <elf.h>
#include <string>
#include <unordered_map>

namespace whichlock {
namespace {

/// What abbreviations stand for; their numbers in .debug_abbrev.
enum Abbreviation : uint8_t {
    kUnit = 1,
    kBase,
    kPointer,
    kVoidPointer,
    kArray,
    kBounds,
    kStruct,
    kUnion,
    kMember,
    kForward,
    kTypedef,
    kAlias,
    kVoidAlias,
    kPrototype,
    kFunction,
    kVoidFunction,
    kSplitFunction,
    kVoidSplitFunction,
    kDeclared,
    kVoidDeclared,
    kParameter,
    kVariable,
};

struct AttributeForm {
    uint16_t attribute;
    uint16_t form;
};

class Bytes {
public:
    std::vector<uint8_t> all{};

    template <class Number> void put(Number number)
    {
        const auto* bytes = reinterpret_cast<const uint8_t*>(&number);
        all.insert(all.end(), bytes, bytes + sizeof number);
    }
    void u8(uint64_t value) { put(static_cast<uint8_t>(value)); }
    void u16(uint64_t value) { put(static_cast<uint16_t>(value)); }
    void u32(uint64_t value) { put(static_cast<uint32_t>(value)); }
    void u64(uint64_t value) { put(value); }
    void uleb(uint64_t value)
    {
        do {
            const auto low = static_cast<uint8_t>(value & 0x7f);
            value >>= 7;
            u8(value != 0 ? low | 0x80U : low);
        } while (value != 0);
    }
    void setU32(size_t at, uint64_t value)
    {
        const auto number = static_cast<uint32_t>(value);
        std::memcpy(all.data() + at, &number, sizeof number);
    }
    size_t size() const { return all.size(); }
};

void abbreviate(
    Bytes& out, Abbreviation number, unsigned tag, bool children, std::initializer_list<AttributeForm> forms)
{
    out.uleb(number);
    out.uleb(tag);
    out.u8(children ? 1 : 0);
    for (const AttributeForm& one : forms) {
        out.uleb(one.attribute);
        out.uleb(one.form);
    }
    out.u16(0);
}

Bytes abbreviations()
{
    constexpr AttributeForm kName{DW_AT_name, DW_FORM_strp};
    constexpr AttributeForm kType{DW_AT_type, DW_FORM_ref4};
    constexpr AttributeForm kSize{DW_AT_byte_size, DW_FORM_data4};
    constexpr AttributeForm kLow{DW_AT_low_pc, DW_FORM_addr};
    constexpr AttributeForm kHigh{DW_AT_high_pc, DW_FORM_data8};
    constexpr AttributeForm kRanges{DW_AT_ranges, DW_FORM_sec_offset};
    constexpr AttributeForm kEntry{DW_AT_entry_pc, DW_FORM_addr};
    constexpr AttributeForm kIsDeclared{DW_AT_declaration, DW_FORM_flag_present};
    Bytes out;
    abbreviate(out, kUnit, DW_TAG_compile_unit, true, {kName, {DW_AT_language, DW_FORM_data2}, kLow, kHigh});
    abbreviate(out, kBase, DW_TAG_base_type, false, {kName, kSize});
    abbreviate(out, kPointer, DW_TAG_pointer_type, false, {kType, kSize});
    abbreviate(out, kVoidPointer, DW_TAG_pointer_type, false, {kSize});
    abbreviate(out, kArray, DW_TAG_array_type, true, {kType});
    abbreviate(out, kBounds, DW_TAG_subrange_type, false, {{DW_AT_count, DW_FORM_data4}});
    abbreviate(out, kStruct, DW_TAG_structure_type, true, {kName, kSize});
    abbreviate(out, kUnion, DW_TAG_union_type, true, {kName, kSize});
    abbreviate(
        out, kMember, DW_TAG_member, false, {kName, kType, {DW_AT_data_member_location, DW_FORM_data4}});
    abbreviate(out, kForward, DW_TAG_structure_type, false, {kName, kIsDeclared});
    abbreviate(out, kTypedef, DW_TAG_typedef, false, {kName, kType});
    abbreviate(out, kAlias, DW_TAG_const_type, false, {kType});
    abbreviate(out, kVoidAlias, DW_TAG_const_type, false, {});
    abbreviate(out, kPrototype, DW_TAG_subroutine_type, false, {});
    abbreviate(out, kFunction, DW_TAG_subprogram, true, {kName, kLow, kHigh, kType});
    abbreviate(out, kVoidFunction, DW_TAG_subprogram, true, {kName, kLow, kHigh});
    abbreviate(out, kSplitFunction, DW_TAG_subprogram, true, {kName, kEntry, kRanges, kType});
    abbreviate(out, kVoidSplitFunction, DW_TAG_subprogram, true, {kName, kEntry, kRanges});
    abbreviate(out, kDeclared, DW_TAG_subprogram, true, {kName, kIsDeclared, kType});
    abbreviate(out, kVoidDeclared, DW_TAG_subprogram, true, {kName, kIsDeclared});
    abbreviate(out, kParameter, DW_TAG_formal_parameter, false, {kName, kType});
    abbreviate(out, kVariable, DW_TAG_variable, false, {kName, kType, {DW_AT_location, DW_FORM_exprloc}});
    out.u8(0);
    return out;
}

/// Symbols by name; null where several functions have one.
using FunctionPlaces = std::unordered_map<std::string_view, const ImageSymbol*>;

FunctionPlaces placesOf(std::span<const ImageSymbol> symbols)
{
    FunctionPlaces places;
    for (const ImageSymbol& symbol : symbols) {
        if (!symbol.function || !symbol.defined || symbol.size == 0)
            continue;
        const auto [place, isNew] = places.emplace(symbol.name, &symbol);
        if (!isNew && (place->second == nullptr || place->second->address != symbol.address))
            place->second = nullptr;
    }
    return places;
}

class DwarfWriter {
public:
    DwarfWriter(const BtfTypes& btf, const BtfPlaces& places)
        : btf_(btf)
        , places_(places)
        , functions_(placesOf(places.symbols))
        , dieOf_(btf.types.size())
    {
    }

    void write()
    {
        beginUnit();
        for (uint32_t id = 1; id < btf_.types.size(); ++id) {
            dieOf_[id] = static_cast<uint32_t>(info_.size());
            type(btf_.types[id]);
        }
        info_.u8(0); // no more children of the unit
        info_.setU32(0, info_.size() - sizeof(uint32_t));
        for (const auto& [at, id] : references_)
            info_.setU32(at, dieOf_[id]);
    }

    std::vector<uint8_t> elf();

private:
    void beginUnit()
    {
        uint64_t low = UINT64_MAX;
        uint64_t high = 0;
        for (const ImageSymbol& symbol : places_.symbols)
            if (symbol.function && symbol.defined && symbol.size != 0 && symbol.address != 0
                && symbol.size <= UINT64_MAX - symbol.address) {
                low = std::min(low, symbol.address);
                high = std::max(high, symbol.address + symbol.size);
            }
        info_.u32(0);
        info_.u16(4);
        info_.u32(0);
        info_.u8(8);
        info_.uleb(kUnit);
        info_.u32(0);
        info_.u16(DW_LANG_C11);
        info_.u64(low < high ? low : 0);
        info_.u64(low < high ? high - low : 0);
    }

    /// A type that may be referred to; what does not exist is void.
    uint32_t known(uint32_t id) const { return id < btf_.types.size() ? id : 0; }
    void name(uint32_t offset) { info_.u32(offset < btf_.strings.size() ? offset : 0); }
    void refer(uint32_t id)
    {
        references_.emplace_back(info_.size(), id);
        info_.u32(0);
    }
    /// Chooses by whether there is a type; the type comes last.
    void begin(uint32_t id, Abbreviation typed, Abbreviation untyped)
    {
        info_.uleb(known(id) != 0 ? typed : untyped);
    }
    void referIfAny(uint32_t id)
    {
        if (known(id) != 0)
            refer(id);
    }

    void type(const BtfType& type)
    {
        constexpr uint32_t kPointerBytes = 8;
        switch (type.kind) {
        case BtfKind::Int:
        case BtfKind::Float:
        case BtfKind::Enum:
        case BtfKind::Enum64:
            info_.uleb(kBase);
            name(type.name);
            info_.u32(type.sizeOrType);
            break;
        case BtfKind::Pointer:
            begin(type.sizeOrType, kPointer, kVoidPointer);
            referIfAny(type.sizeOrType);
            info_.u32(kPointerBytes);
            break;
        case BtfKind::Array:
            array(type);
            break;
        case BtfKind::Struct:
        case BtfKind::Union:
            structure(type);
            break;
        case BtfKind::Forward:
            info_.uleb(kForward);
            name(type.name);
            break;
        case BtfKind::Typedef:
            if (known(type.sizeOrType) != 0) {
                info_.uleb(kTypedef);
                name(type.name);
                refer(type.sizeOrType);
            } else {
                info_.uleb(kVoidAlias);
            }
            break;
        case BtfKind::Volatile:
        case BtfKind::Const:
        case BtfKind::Restrict:
        case BtfKind::TypeTag:
            begin(type.sizeOrType, kAlias, kVoidAlias);
            referIfAny(type.sizeOrType);
            break;
        case BtfKind::Function:
            function(type);
            break;
        case BtfKind::DataSection:
            section(type);
            break;
        case BtfKind::Prototype:
        case BtfKind::Variable:
        case BtfKind::DeclarationTag:
        case BtfKind::Void:
            info_.uleb(kPrototype); // nobody looks into it
            break;
        }
    }

    void array(const BtfType& type)
    {
        const uint32_t element = known(type.word(0));
        if (element == 0) {
            info_.uleb(kVoidAlias);
            return;
        }
        info_.uleb(kArray);
        refer(element);
        info_.uleb(kBounds);
        info_.u32(type.word(2));
        info_.u8(0);
    }

    void structure(const BtfType& type)
    {
        constexpr uint32_t kBitsPerByte = 8;
        info_.uleb(type.kind == BtfKind::Struct ? kStruct : kUnion);
        name(type.name);
        info_.u32(type.sizeOrType);
        for (uint32_t i = 0; i < type.count; ++i) {
            const uint32_t offset = type.word(size_t{i} * 3 + 2);
            const uint32_t bits = type.flag ? offset & 0xffffff : offset;
            const bool bitField = (type.flag && offset >> 24 != 0) || bits % kBitsPerByte != 0;
            const uint32_t member = known(type.word(size_t{i} * 3 + 1));
            if (bitField || member == 0)
                continue;
            info_.uleb(kMember);
            name(type.word(size_t{i} * 3));
            refer(member);
            info_.u32(bits / kBitsPerByte);
        }
        info_.u8(0);
    }

    void function(const BtfType& type)
    {
        const uint32_t prototypeId = known(type.sizeOrType);
        const BtfType prototype = btf_.types[prototypeId];
        const bool isPrototype = prototype.kind == BtfKind::Prototype;
        const uint32_t result = isPrototype ? prototype.sizeOrType : 0;
        const std::string_view function = btf_.text(type.name);
        const auto place = functions_.find(function);
        const ImageSymbol* symbol = place != functions_.end() ? place->second : nullptr;
        const auto cold =
            symbol != nullptr ? functions_.find(std::string(function) + ".cold") : functions_.end();
        const bool split = cold != functions_.end() && cold->second != nullptr;
        if (symbol == nullptr)
            begin(result, kDeclared, kVoidDeclared);
        else if (split)
            begin(result, kSplitFunction, kVoidSplitFunction);
        else
            begin(result, kFunction, kVoidFunction);
        name(type.name);
        if (split) {
            info_.u64(symbol->address);
            info_.u32(ranges_.size());
            ranges_.u64(UINT64_MAX); // what follows counts from 0, not from where the unit begins
            ranges_.u64(0);
            for (const ImageSymbol* part : {symbol, cold->second}) {
                ranges_.u64(part->address);
                ranges_.u64(part->address + part->size);
            }
            ranges_.u64(0);
            ranges_.u64(0);
        } else if (symbol != nullptr) {
            info_.u64(symbol->address);
            info_.u64(symbol->size);
        }
        referIfAny(result);
        for (uint32_t i = 0; isPrototype && i < prototype.count; ++i) {
            const uint32_t parameter = known(prototype.word(size_t{i} * 2 + 1));
            if (parameter == 0)
                break; // the dots of a variable list
            info_.uleb(kParameter);
            name(prototype.word(size_t{i} * 2));
            refer(parameter);
        }
        info_.u8(0);
    }

    /// Only variables of each processor are in sections that are kept.
    void section(const BtfType& type)
    {
        info_.uleb(kPrototype);
        if (btf_.text(type.name) != ".data..percpu")
            return;
        for (uint32_t i = 0; i < type.count; ++i) {
            const BtfType& variable = btf_.types[known(type.word(size_t{i} * 3))];
            if (variable.kind != BtfKind::Variable || known(variable.sizeOrType) == 0)
                continue;
            info_.uleb(kVariable);
            name(variable.name);
            refer(variable.sizeOrType);
            info_.uleb(1 + sizeof(uint64_t));
            info_.u8(DW_OP_addr);
            info_.u64(places_.perCpuBase + type.word(size_t{i} * 3 + 1));
        }
    }

    const BtfTypes& btf_;
    const BtfPlaces& places_;
    FunctionPlaces functions_;
    std::vector<uint32_t> dieOf_; ///< by id
    std::vector<std::pair<size_t, uint32_t>> references_;
    Bytes info_;
    Bytes ranges_;
};

std::vector<uint8_t> DwarfWriter::elf()
{
    constexpr std::string_view kNames(
        "\0.shstrtab\0.debug_info\0.debug_abbrev\0.debug_str\0.debug_ranges\0", 62);
    const Bytes abbrev = abbreviations();
    struct Part {
        uint32_t name;
        uint32_t type;
        std::span<const uint8_t> bytes;
    };
    const auto bytesOf = [](const auto& text) {
        return std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    };
    const std::array<Part, 5> parts = {
        {{1, SHT_STRTAB, bytesOf(kNames)}, {11, SHT_PROGBITS, info_.all}, {23, SHT_PROGBITS, abbrev.all},
            {37, SHT_PROGBITS, bytesOf(btf_.strings)}, {48, SHT_PROGBITS, ranges_.all}}};
    Bytes out;
    Elf64_Ehdr header{};
    std::memcpy(static_cast<void*>(header.e_ident), ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(parts.size() + 1);
    header.e_shstrndx = 1;
    header.e_shoff = sizeof header;
    out.put(header);
    out.put(Elf64_Shdr{});
    uint64_t at = sizeof header + (parts.size() + 1) * sizeof(Elf64_Shdr);
    for (const Part& part : parts) {
        Elf64_Shdr section{};
        section.sh_name = part.name;
        section.sh_type = part.type;
        section.sh_offset = at;
        section.sh_size = part.bytes.size();
        section.sh_addralign = 1;
        out.put(section);
        at += part.bytes.size();
    }
    for (const Part& part : parts)
        out.all.insert(out.all.end(), part.bytes.begin(), part.bytes.end());
    return std::move(out.all);
}

} // namespace

bool looksLikeBtf(std::span<const uint8_t> bytes)
{
    return bytes.size() >= 2 && bytes[0] == 0x9f && bytes[1] == 0xeb;
}

std::vector<uint8_t> btfOfFile(const std::string& path)
{
    constexpr uint64_t kMostBytes = 256U << 20;
    if (const auto file = ElfFile::open(path))
        return sectionBytes((*file)->elf(), ".BTF");
    const auto text = readSymbolText(path, kMostBytes);
    std::vector<uint8_t> bytes;
    if (text)
        bytes.assign(text->begin(), text->end());
    return looksLikeBtf(bytes) ? bytes : std::vector<uint8_t>();
}

std::unique_ptr<MemoryDwarf> MemoryDwarf::open(std::vector<uint8_t> content)
{
    std::unique_ptr<MemoryDwarf> memory(new MemoryDwarf);
    memory->content_ = std::move(content);
    memory->elf_ = elf_memory(reinterpret_cast<char*>(memory->content_.data()), memory->content_.size());
    if (memory->elf_ != nullptr)
        memory->dwarf_ = dwarf_begin_elf(memory->elf_, DWARF_C_READ, nullptr);
    return memory->dwarf_ != nullptr ? std::move(memory) : nullptr;
}

MemoryDwarf::~MemoryDwarf()
{
    if (dwarf_ != nullptr)
        dwarf_end(dwarf_);
    if (elf_ != nullptr)
        elf_end(elf_);
}

Result<std::vector<uint8_t>> dwarfFromBtf(
    std::span<const uint8_t> btf, std::span<const uint8_t> base, const BtfPlaces& places)
{
    const auto types = readBtf(btf, base);
    if (!types)
        return tl::make_unexpected(types.error());
    DwarfWriter writer(*types, places);
    writer.write();
    return writer.elf();
}

} // namespace whichlock
