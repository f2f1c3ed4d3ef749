import type { Argreduce } from "./core.js";

export type { Allocation, Argreduce, Arrays, Elements, ElementType, Found, IndexType, Options, Out } from "./core.js";
export declare const argmin: Argreduce["argmin"];
export declare const argmax: Argreduce["argmax"];
export declare const argminmax: Argreduce["argminmax"];
export declare const alloc: Argreduce["alloc"];
