# How llama.cpp is compiled for EdgeVox. CMake runs this file after each project() call, llama.cpp's own among them.

# llama-cpp-python forces llama.cpp's helper library on, which is half of the compilation and which nothing here uses.
set(LLAMA_BUILD_COMMON OFF CACHE BOOL "" FORCE)

# GCC 12 drops most of the tile configuration that llama.cpp writes for AMX (server processors), which then ends the
# process with SIGILL at the first prompt (docs/adr/0011-requantise-on-first-use.md).
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-mno-amx-tile HAS_NO_AMX_FLAG)
if(HAS_NO_AMX_FLAG AND NOT EDGEVOX_AMX_IS_OFF)
    add_compile_options(-mno-amx-tile -mno-amx-int8 -mno-amx-bf16)
    set(EDGEVOX_AMX_IS_OFF ON)
endif()
