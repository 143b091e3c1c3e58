/**
 * What a state directory says of itself, for whoever must not change it: nothing is opened, made or removed.
 *
 * Owns: nothing. Knows nothing of: rows. Rule: it reads the marker files alone and so may look while a node runs.
 */
import { readdir } from 'node:fs/promises'
import { readMarker } from './marker-file.ts'
import { DISTRUSTED, POINTER, STATE_FORMAT } from './state-directory.ts'

export interface StateOnDisk {
  /** As the pointer has it, NaN for what is no number; null: there is no state. */
  readonly format: number | null
  /** Of this build. */
  readonly known: number
  /** Why the state cannot be found. */
  readonly fault: string | null
  /** Why a node refused to use it; null: none did. */
  readonly distrusted: string | null
}

export async function inspectState(dir: string): Promise<StateOnDisk> {
  const nothing = { format: null, known: STATE_FORMAT, fault: null, distrusted: null }
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
    const marker = await readMarker(dir, DISTRUSTED)
    const why = marker.found === 'marker' ? String(marker.value['why']) : `${DISTRUSTED} is damaged`
    const distrusted = marker.found === 'nothing' ? null : why
    return { ...nothing, format: Number(pointer.value['format']), distrusted }
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    return code === 'ENOENT' ? nothing : { ...nothing, fault: `${dir} cannot be read (${code})` }
  }
}
