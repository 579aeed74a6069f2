"""Tools of agent frameworks as EdgeVox tools, and EdgeVox tools as theirs; one module for each framework.

Each needs its framework, which is an extra: `pip install "edgevox[langchain]"`.
"""
