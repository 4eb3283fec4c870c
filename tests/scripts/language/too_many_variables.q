% A function with too many variables is an error with advice; the top level may have any number.
% exit: 1
function y = f(x)
  a0 = x; a1 = x; a2 = x; a3 = x; a4 = x; a5 = x; a6 = x; a7 = x; a8 = x; a9 = x
  a10 = x; a11 = x; a12 = x; a13 = x; a14 = x; a15 = x; a16 = x; a17 = x; a18 = x; a19 = x
  a20 = x; a21 = x; a22 = x; a23 = x; a24 = x; a25 = x; a26 = x; a27 = x; a28 = x; a29 = x
  a30 = x; a31 = x; a32 = x; a33 = x; a34 = x; a35 = x; a36 = x; a37 = x; a38 = x; a39 = x
  a40 = x; a41 = x; a42 = x; a43 = x; a44 = x; a45 = x; a46 = x; a47 = x; a48 = x; a49 = x
  a50 = x; a51 = x; a52 = x; a53 = x; a54 = x; a55 = x; a56 = x; a57 = x; a58 = x; a59 = x
  a60 = x; a61 = x; a62 = x; a63 = x; a64 = x; a65 = x; a66 = x; a67 = x; a68 = x; a69 = x
  a70 = x; a71 = x; a72 = x; a73 = x; a74 = x; a75 = x; a76 = x; a77 = x; a78 = x; a79 = x
  a80 = x; a81 = x; a82 = x; a83 = x; a84 = x; a85 = x; a86 = x; a87 = x; a88 = x; a89 = x
  a90 = x; a91 = x; a92 = x; a93 = x; a94 = x; a95 = x; a96 = x; a97 = x; a98 = x; a99 = x
  a100 = x; a101 = x; a102 = x; a103 = x; a104 = x; a105 = x; a106 = x; a107 = x; a108 = x; a109 = x
  a110 = x; a111 = x; a112 = x; a113 = x; a114 = x; a115 = x; a116 = x; a117 = x; a118 = x; a119 = x
  a120 = x; a121 = x; a122 = x; a123 = x; a124 = x; a125 = x; a126 = x; a127 = x; a128 = x; a129 = x
  a130 = x; a131 = x; a132 = x; a133 = x; a134 = x; a135 = x; a136 = x; a137 = x; a138 = x; a139 = x
  a140 = x; a141 = x; a142 = x; a143 = x; a144 = x; a145 = x; a146 = x; a147 = x; a148 = x; a149 = x
  a150 = x; a151 = x; a152 = x; a153 = x; a154 = x; a155 = x; a156 = x; a157 = x; a158 = x; a159 = x
  a160 = x; a161 = x; a162 = x; a163 = x; a164 = x; a165 = x; a166 = x; a167 = x; a168 = x; a169 = x
  a170 = x; a171 = x; a172 = x; a173 = x; a174 = x; a175 = x; a176 = x; a177 = x; a178 = x; a179 = x
  a180 = x; a181 = x; a182 = x; a183 = x; a184 = x; a185 = x; a186 = x; a187 = x; a188 = x; a189 = x
  a190 = x; a191 = x; a192 = x; a193 = x; a194 = x; a195 = x; a196 = x; a197 = x; a198 = x; a199 = x
  a200 = x; a201 = x; a202 = x; a203 = x; a204 = x; a205 = x; a206 = x; a207 = x; a208 = x; a209 = x
  a210 = x; a211 = x; a212 = x; a213 = x; a214 = x; a215 = x; a216 = x; a217 = x; a218 = x; a219 = x
  a220 = x; a221 = x; a222 = x; a223 = x; a224 = x; a225 = x; a226 = x; a227 = x; a228 = x; a229 = x
  a230 = x; a231 = x; a232 = x; a233 = x; a234 = x; a235 = x; a236 = x; a237 = x; a238 = x; a239 = x
  y = a0
end
print f(1)
