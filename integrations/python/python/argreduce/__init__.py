"""argmin and argmax over any axes.

For NumPy arrays of any strides, and without a copy; for whatever has ``__dlpack__`` in the CPU's memory; and, in
:mod:`argreduce.dask`, for dask arrays. Ties go to the first or to the last index, and NaN wins or loses, as you say.

>>> import numpy as np
>>> import argreduce
>>> scores = np.array([[1.0, 5.0, 2.0], [7.0, 0.0, 7.0]])
>>> argreduce.argmax(scores, axis=1)
array([1, 0])
>>> argreduce.max_argmax(scores, axis=1)
ValuesAndIndices(values=array([5., 7.]), indices=array([1, 0]))
>>> argreduce.argminmax(scores, axis=1)
ArgMinMax(argmin=array([0, 1]), argmax=array([1, 0]))
"""

from ._argreduce import *
from ._argreduce import __version__ as __version__
from ._interop import ArgMinMax, ArgMinMaxValues, Partial, ValuesAndIndices
from ._nearest import nearest
from ._unravel import unravel

__all__ = ["ArgMinMax", "ArgMinMaxValues", "Partial", "ValuesAndIndices", "nearest", "unravel"]
# By stubs.py: what follows, to the end mark.
__all__ += [
    "argmax", "argmin", "argminmax", "argminmax_values", "cumargmax", "cumargmin", "max_argmax", "max_cumargmax",
    "merge", "min_argmin", "min_cumargmin", "move_argmax", "move_argmin", "nanargmax", "nanargmin", "partial",
]
# end
