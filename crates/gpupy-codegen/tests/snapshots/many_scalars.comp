#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer In_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Out_float32x4 { vec4 e[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Launch { uvec2 b0; uvec2 b1; int k[49]; };
layout(push_constant, std430) uniform Push { Launch launch; };
void main() {
    int local = int(gl_LocalInvocationIndex);
    int t = 256 * int(gl_WorkGroupID.x) + local;
    int number = min(t, launch.k[0] - 1);
    int a0 = number;
    int s0 = number;
    precise vec4 v0 = In_float32x4(launch.b0).e[a0];
    precise vec4 v2 = (v0 - vec4(intBitsToFloat(launch.k[1])));
    precise vec4 v4 = (v2 - vec4(intBitsToFloat(launch.k[2])));
    precise vec4 v6 = (v4 - vec4(intBitsToFloat(launch.k[3])));
    precise vec4 v8 = (v6 - vec4(intBitsToFloat(launch.k[4])));
    precise vec4 v10 = (v8 - vec4(intBitsToFloat(launch.k[5])));
    precise vec4 v12 = (v10 - vec4(intBitsToFloat(launch.k[6])));
    precise vec4 v14 = (v12 - vec4(intBitsToFloat(launch.k[7])));
    precise vec4 v16 = (v14 - vec4(intBitsToFloat(launch.k[8])));
    precise vec4 v18 = (v16 - vec4(intBitsToFloat(launch.k[9])));
    precise vec4 v20 = (v18 - vec4(intBitsToFloat(launch.k[10])));
    precise vec4 v22 = (v20 - vec4(intBitsToFloat(launch.k[11])));
    precise vec4 v24 = (v22 - vec4(intBitsToFloat(launch.k[12])));
    precise vec4 v26 = (v24 - vec4(intBitsToFloat(launch.k[13])));
    precise vec4 v28 = (v26 - vec4(intBitsToFloat(launch.k[14])));
    precise vec4 v30 = (v28 - vec4(intBitsToFloat(launch.k[15])));
    precise vec4 v32 = (v30 - vec4(intBitsToFloat(launch.k[16])));
    precise vec4 v34 = (v32 - vec4(intBitsToFloat(launch.k[17])));
    precise vec4 v36 = (v34 - vec4(intBitsToFloat(launch.k[18])));
    precise vec4 v38 = (v36 - vec4(intBitsToFloat(launch.k[19])));
    precise vec4 v40 = (v38 - vec4(intBitsToFloat(launch.k[20])));
    precise vec4 v42 = (v40 - vec4(intBitsToFloat(launch.k[21])));
    precise vec4 v44 = (v42 - vec4(intBitsToFloat(launch.k[22])));
    precise vec4 v46 = (v44 - vec4(intBitsToFloat(launch.k[23])));
    precise vec4 v48 = (v46 - vec4(intBitsToFloat(launch.k[24])));
    precise vec4 v50 = (v48 - vec4(intBitsToFloat(launch.k[25])));
    precise vec4 v52 = (v50 - vec4(intBitsToFloat(launch.k[26])));
    precise vec4 v54 = (v52 - vec4(intBitsToFloat(launch.k[27])));
    precise vec4 v56 = (v54 - vec4(intBitsToFloat(launch.k[28])));
    precise vec4 v58 = (v56 - vec4(intBitsToFloat(launch.k[29])));
    precise vec4 v60 = (v58 - vec4(intBitsToFloat(launch.k[30])));
    precise vec4 v62 = (v60 - vec4(intBitsToFloat(launch.k[31])));
    precise vec4 v64 = (v62 - vec4(intBitsToFloat(launch.k[32])));
    precise vec4 v66 = (v64 - vec4(intBitsToFloat(launch.k[33])));
    precise vec4 v68 = (v66 - vec4(intBitsToFloat(launch.k[34])));
    precise vec4 v70 = (v68 - vec4(intBitsToFloat(launch.k[35])));
    precise vec4 v72 = (v70 - vec4(intBitsToFloat(launch.k[36])));
    precise vec4 v74 = (v72 - vec4(intBitsToFloat(launch.k[37])));
    precise vec4 v76 = (v74 - vec4(intBitsToFloat(launch.k[38])));
    precise vec4 v78 = (v76 - vec4(intBitsToFloat(launch.k[39])));
    precise vec4 v80 = (v78 - vec4(intBitsToFloat(launch.k[40])));
    precise vec4 v82 = (v80 - vec4(intBitsToFloat(launch.k[41])));
    precise vec4 v84 = (v82 - vec4(intBitsToFloat(launch.k[42])));
    precise vec4 v86 = (v84 - vec4(intBitsToFloat(launch.k[43])));
    precise vec4 v88 = (v86 - vec4(intBitsToFloat(launch.k[44])));
    precise vec4 v90 = (v88 - vec4(intBitsToFloat(launch.k[45])));
    precise vec4 v92 = (v90 - vec4(intBitsToFloat(launch.k[46])));
    precise vec4 v94 = (v92 - vec4(intBitsToFloat(launch.k[47])));
    precise vec4 v96 = (v94 - vec4(intBitsToFloat(launch.k[48])));
    if (t < launch.k[0]) { Out_float32x4(launch.b1).e[s0] = v96; }
}
