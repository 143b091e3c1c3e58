/**
 * What the files of a state directory state about it, without changing it: nothing is opened, made or removed.
 *
 * Owns: nothing. Knows nothing of: rows. Rule: it reads only the marker files, so it may run beside a running node.
 */
import { readdir } from 'node:fs/promises'
import { readMarker } from './marker-file.ts'
import { QUARANTINED, POINTER, STATE_FORMAT, STATE_FORMATS } from './state-directory.ts'

export interface StateOnDisk {
  /** From the pointer, NaN for a value that is no number; null: there is no state. */
  readonly format: number | null
  /** The same where this build opens it; otherwise the latest that it knows. */
  readonly known: number
  /** Why the state cannot be found. */
  readonly fault: string | null
  /** Why a node refused to use it; null: no node did. */
  readonly quarantined: string | null
}

export async function inspectState(dir: string): Promise<StateOnDisk> {
  const nothing = { format: null, known: STATE_FORMAT, fault: null, quarantined: null }
  try {
    const names = await readdir(dir)
    const pointer = await readMarker(dir, POINTER)
    if (pointer.found === 'damaged') return { ...nothing, fault: `${POINTER} in ${dir} is damaged` }
    if (pointer.found === 'nothing') {
      const isLost = names.some((name) => /^state-\d+$/.test(name)) && !names.includes('CREATING')
      return isLost
        ? { ...nothing, fault: `${POINTER} is missing in ${dir} although there are states` }
        : nothing
    }
    const marker = await readMarker(dir, QUARANTINED)
    const why = marker.found === 'marker' ? String(marker.value['why']) : `${QUARANTINED} is damaged`
    const quarantined = marker.found === 'nothing' ? null : why
    const format = Number(pointer.value['format'])
    return { ...nothing, format, known: STATE_FORMATS.has(format) ? format : STATE_FORMAT, quarantined }
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    return code === 'ENOENT' ? nothing : { ...nothing, fault: `${dir} cannot be read (${code})` }
  }
}
