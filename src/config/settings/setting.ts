/**
 * The definition of one setting of a node.
 */
export type SettingKind =
  | 'text'
  | 'path'
  | 'paths'
  | 'address'
  | 'duration'
  | 'bytes'
  | 'percent'
  | 'integer'
  | 'boolean'
  | 'members'
  | 'level'
  | 'origin'
  | 'origins'
  | 'roleRules'
  | 'ports'
  | 'networks'

/** The URL of a server that a node calls: without credentials, query and fragment. */
export const SERVER_URL = /^https?:\/\/[^\s@?#]+$/

export interface Setting {
  readonly name: string
  readonly kind: SettingKind
  readonly meaning: string
  /** What to write, one sentence that ends with an example: `Set node.id to …, for example node.id: n1.` The hint of every fault of its value. */
  readonly advice: string
  /** The default as it is written in the file; null: the setting is required. */
  readonly fallback: string | null
  /** For numbers, in ms, bytes, percent or units. */
  readonly min?: number
  readonly max?: number
  /** For text. */
  readonly pattern?: RegExp
  /** For text that has to be a URL as well. */
  readonly isUrl?: true
  readonly optional?: true
}
