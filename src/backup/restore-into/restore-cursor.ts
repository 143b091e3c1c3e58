/**
 * Where a restore is: the text of its cursor.
 *
 * Owns: the steps, how they are written. Rule: a cursor says everything that another node needs to continue.
 */
import type { VersionId } from '../../state-machine/base/record-ids.ts'
import type { VersionPlace } from './version-walk.ts'

export type RestorePlace =
  | { readonly step: 'begin' }
  /** Looks for the first bucket behind `after`; null: for the first one. */
  | { readonly step: 'bucket'; readonly after: string | null }
  | { readonly step: 'versions'; readonly bucket: string; readonly after: VersionPlace | null }
  /** Of one assembled object; so many of its parts are there. */
  | { readonly step: 'parts'; readonly bucket: string; readonly version: VersionPlace; readonly done: number }
  | { readonly step: 'check'; readonly bucket: string; readonly checked: Checked | null }
  | { readonly step: 'settings'; readonly bucket: string }
  | { readonly step: 'end' }

/** How far the comparison of a bucket has come. */
export interface Checked {
  /** The last version of the backup that was compared. */
  readonly after: VersionPlace
  /** The version of the cluster that is to be compared next, of the same key; null: none is left. */
  readonly twin: VersionId | null
  /** Versions of the cluster that were met so far. */
  readonly met: number
}

/** Empty for the beginning, as every cursor is at first. */
export function cursorOf(place: RestorePlace): string {
  return place.step === 'begin' ? '' : JSON.stringify(place)
}

export function placeIn(cursor: string): RestorePlace {
  return cursor === '' ? { step: 'begin' } : (JSON.parse(cursor) as RestorePlace)
}
