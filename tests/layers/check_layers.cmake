# SPDX-License-Identifier: GPL-3.0-or-later
# Checks that includes go one way. Run by CTest and `./dev layers`:
#   cmake -DROOT=<source tree> -P check_layers.cmake
cmake_minimum_required(VERSION 3.25)

# Folders from the bottom to the top. A file includes its own folder and those of a lower number; folders of
# one number do not know each other. The longest matching folder counts.
set(LAYERS
  parsers=0
  analyzer/model=1
  analyzer/symbols=2
  analyzer/compare=3
  analyzer/scaling=3
  analyzer/locks=3
  analyzer/naming=4
  analyzer/traces=4
  analyzer/session=5
  analyzer/report=5
  analyzer/batch=6
  analyzer/cli=7
  gui=8
)
# Made by the build from constants; known to all of analyzer/ and above.
set(GENERATED analyzer/version.h)
# Tests see everything; nothing sees them.
set(FREE_FOLDERS tests)

# System headers that a folder must not include.
set(QT "Q[A-Z][A-Za-z]*|Qt[A-Z][A-Za-z]*/.*|q[a-z]+\\.h")
set(ELF "elfutils/.*|libelf\\.h|gelf\\.h|dwarf\\.h|libdw.*")
set(BANNED_parsers "${QT}|${ELF}|boost/.*")
set(BANNED_analyzer "${QT}")
set(BANNED_model "${ELF}|boost/.*")
# Boost is for command lines only.
foreach(folder symbols naming compare scaling locks traces report batch)
  set(BANNED_${folder} "boost/.*")
endforeach()

# Sets `folder` and `level` for a path from the root; both are empty for a path outside of the layers.
function(layer_of path)
  set(found "")
  set(number "")
  foreach(layer IN LISTS LAYERS)
    string(REGEX MATCH "^(.*)=(.*)$" _ "${layer}")
    set(name "${CMAKE_MATCH_1}")
    set(value "${CMAKE_MATCH_2}")
    string(FIND "${path}" "${name}/" at)
    string(LENGTH "${name}" length)
    string(LENGTH "${found}" foundLength)
    if(at EQUAL 0 AND length GREATER foundLength)
      set(found "${name}")
      set(number "${value}")
    endif()
  endforeach()
  set(folder "${found}" PARENT_SCOPE)
  set(level "${number}" PARENT_SCOPE)
endfunction()

set(failures 0)
macro(complain text)
  message("${file}: ${text}")
  math(EXPR failures "${failures} + 1")
endmacro()

set(checked 0)
set(globs "")
foreach(top parsers analyzer gui ${FREE_FOLDERS})
  list(APPEND globs "${ROOT}/${top}/*.h" "${ROOT}/${top}/*.cpp" "${ROOT}/${top}/*.inc")
endforeach()
file(GLOB_RECURSE files RELATIVE "${ROOT}" ${globs})
list(SORT files)
foreach(file IN LISTS files)
  math(EXPR checked "${checked} + 1")
  string(REGEX MATCH "^[^/]+" top "${file}")
  layer_of("${file}")
  set(ownFolder "${folder}")
  set(ownLevel "${level}")
  if(NOT top IN_LIST FREE_FOLDERS AND ownFolder STREQUAL "")
    complain("stands in no folder that has a layer; add the folder to check_layers.cmake")
    continue()
  endif()
  file(STRINGS "${ROOT}/${file}" includes REGEX "^[ \t]*#[ \t]*include[ \t]")
  foreach(line IN LISTS includes)
    if(line MATCHES "include[ \t]*\"([^\"]*)\"")
      set(target "${CMAKE_MATCH_1}")
      if(NOT target MATCHES "^(parsers|analyzer|gui|tests)/" OR target MATCHES "\\.\\./")
        complain("\"${target}\" is not written from the root")
        continue()
      endif()
      if(top IN_LIST FREE_FOLDERS)
        continue()
      endif()
      layer_of("${target}")
      if(target IN_LIST GENERATED AND ownFolder MATCHES "^(analyzer|gui)")
        continue()
      elseif(level STREQUAL "")
        complain("must not include \"${target}\", which has no layer")
      elseif(NOT folder STREQUAL ownFolder AND NOT level LESS ownLevel)
        complain("${ownFolder} must not include \"${target}\": ${folder} is not below it")
      endif()
    elseif(line MATCHES "include[ \t]*<([^>]*)>")
      set(target "${CMAKE_MATCH_1}")
      string(REGEX REPLACE ".*/" "" last "${ownFolder}")
      if(target MATCHES "^(parsers|analyzer|gui|tests)/")
        complain("<${target}> is a project header: write it in quotes")
      endif()
      foreach(rule IN ITEMS "${top}" "${last}")
        if(DEFINED BANNED_${rule} AND NOT "${rule}" STREQUAL "" AND target MATCHES "^(${BANNED_${rule}})$")
          complain("${ownFolder} must not include <${target}>")
          break()
        endif()
      endforeach()
    endif()
  endforeach()
endforeach()

if(checked EQUAL 0)
  message(FATAL_ERROR "no source files under ${ROOT}")
endif()
if(failures GREATER 0)
  message(FATAL_ERROR "${failures} includes break the layers")
endif()
message(STATUS "layers: ${checked} files, all includes go one way")
