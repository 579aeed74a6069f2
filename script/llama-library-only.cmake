# llama-cpp-python forces llama.cpp's helper library on, which is half of the compilation and which nothing here
# uses. CMake runs this file after each project() call, llama.cpp's own among them, and so after that decision.
set(LLAMA_BUILD_COMMON OFF CACHE BOOL "" FORCE)
