/**
 * Messages between the MD5 threads and the pool of them.
 *
 * Owns: the messages. Rules: whole frames are not copied but shared between both sides; a thread answers `update` and `digest`, in
 * the order in which they came, and `forget` not at all. A body begins with its first update.
 */
export type Md5Request =
  | { readonly type: 'update'; readonly body: number; readonly frames: readonly Uint8Array[] }
  | { readonly type: 'digest'; readonly body: number }
  | { readonly type: 'forget'; readonly body: number }

/** `digest`: null for an update. */
export interface Md5Reply {
  readonly digest: Uint8Array | null
}
