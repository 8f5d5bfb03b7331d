# Every tensor's numbers in one pass, and where the bytes are.
$ ckpt inspect --stats testdata/pytorch/all_dtypes.pt
testdata/pytorch/all_dtypes.pt: pytorch (zip), 3.98 KiB
13 tensors, 59 parameters, 242 B of data (F64 48 B, F32 40 B, F16 12 B, BF16 12 B, I64 40 B, I32 20 B, I16 10 B, I8 5 B, U8 4 B, BOOL 3 B, C64 16 B, C128 32 B)

F64   48 B  ████████████████████████████████████████
F32   40 B  █████████████████████████████████
I64   40 B  █████████████████████████████████
C128  32 B  ███████████████████████████
I32   20 B  █████████████████
C64   16 B  █████████████
BF16  12 B  ██████████
F16   12 B  ██████████
I16   10 B  ████████
I8     5 B  ████
U8     4 B  ███
BOOL   3 B  ███

name        dtype  shape                   min                  max      mean          std  zeros  NaN  infinite
float64     F64    [6]                    -2.0                 96.0   16.3333      35.6624      1
float32     F32    [6]                    -2.0                 96.0   16.3333      35.6624      1
float16     F16    [6]                    -2.0                 96.0   16.3333      35.6624      1
bfloat16    BF16   [6]                    -2.0                 96.0   16.3333      35.6624      1
special     F32    [4]                    -0.0                 -0.0         0            0      1    1         2
int64       I64    [5]    -9223372036854775808  9223372036854775807      -0.2  5.83337e+18      1
int32       I32    [5]             -2147483648           2147483647      -0.2  1.35819e+09      1
int16       I16    [5]                  -32768                32767      -0.2        20724      1
int8        I8     [5]                    -128                  127      -0.2      80.6409      1
uint8       U8     [4]                       0                  255        96       105.53      1
bool        BOOL   [3]                       0                    1  0.666667     0.471405      1
complex64   C64    [2]
complex128  C128   [2]
$ ckpt inspect --stats testdata/pytorch/two_roots.pt
testdata/pytorch/two_roots.pt: pytorch (zip), 1.54 KiB
4 tensors, 30 parameters, 120 B of data (F32 120 B)

F32  120 B  ████████████████████████████████████████

state_dict      60 B  ████████████████████████████████████████
state_dict_ema  60 B  ████████████████████████████████████████

name                     dtype  shape     min    max    mean       std  zeros  NaN  infinite
state_dict.0.weight      F32    [3, 4]  0.125    1.5  0.8125  0.431507
state_dict.0.bias        F32    [3]       0.5   0.75   0.625  0.102062
state_dict_ema.0.weight  F32    [3, 4]   6.25  7.625  6.9375  0.431507
state_dict_ema.0.bias    F32    [3]     6.625  6.875    6.75  0.102062
$ ckpt inspect --stats --json testdata/pytorch/all_dtypes.pt | python3 -c '
> import json, sys
> for tensor in json.load(sys.stdin)["tensors"]:
>     print(tensor["name"], tensor["statistics"])'
float64 {'min': -2.0, 'max': 96.0, 'mean': 16.333333333333332, 'std': 35.66238292032033, 'zeros': 1, 'nans': 0, 'infinities': 0}
float32 {'min': -2.0, 'max': 96.0, 'mean': 16.333333333333332, 'std': 35.66238292032034, 'zeros': 1, 'nans': 0, 'infinities': 0}
float16 {'min': -2.0, 'max': 96.0, 'mean': 16.333333333333332, 'std': 35.66238292032034, 'zeros': 1, 'nans': 0, 'infinities': 0}
bfloat16 {'min': -2.0, 'max': 96.0, 'mean': 16.333333333333332, 'std': 35.66238292032034, 'zeros': 1, 'nans': 0, 'infinities': 0}
special {'min': -0.0, 'max': -0.0, 'mean': 0.0, 'std': 0.0, 'zeros': 1, 'nans': 1, 'infinities': 2}
int64 {'min': -9223372036854775808, 'max': 9223372036854775807, 'mean': -0.2, 'std': 5.833372668713516e+18, 'zeros': 1, 'nans': 0, 'infinities': 0}
int32 {'min': -2147483648, 'max': 2147483647, 'mean': -0.2, 'std': 1358187912.8132312, 'zeros': 1, 'nans': 0, 'infinities': 0}
int16 {'min': -32768, 'max': 32767, 'mean': -0.2, 'std': 20723.986657011723, 'zeros': 1, 'nans': 0, 'infinities': 0}
int8 {'min': -128, 'max': 127, 'mean': -0.2, 'std': 80.64093253429056, 'zeros': 1, 'nans': 0, 'infinities': 0}
uint8 {'min': 0, 'max': 255, 'mean': 96.0, 'std': 105.52961669597782, 'zeros': 1, 'nans': 0, 'infinities': 0}
bool {'min': 0, 'max': 1, 'mean': 0.6666666666666666, 'std': 0.47140452079103173, 'zeros': 1, 'nans': 0, 'infinities': 0}
complex64 {}
complex128 {}
