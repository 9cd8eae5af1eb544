/** Caches in the memory of the process. */

/** Something that this process holds in memory to be quick, bounded in bytes. */
export interface Cache {
  readonly name: string;
  readonly limitBytes: number;
  /** What it holds now, as far as that can be told. */
  bytes(): number;
}
