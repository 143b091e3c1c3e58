/**
 * What a request is about, as far as rights depend on it.
 */

/** What the operation aims at. The members that its requirement needs must be present. */
export interface Target {
  /** In the data plane it can only be the principal's own; the admin plane names the one it aims at. */
  readonly tenantId?: string | null
  readonly bucket?: string
  /** An object key; for a listing the prefix asked for, '' for everything. */
  readonly key?: string
  /** The version that the request names; undefined: none. */
  readonly versionId?: string | undefined
  /** Until when the request retains a version, ms since 1970; undefined: it sets no retention. */
  readonly retainUntil?: number | undefined
  /** Of a listing; '' for none. */
  readonly delimiter?: string | undefined
}
