/**
 * Faults of the machine under a node: its disk is full, slow or unreadable, its memory is small.
 *
 * Owns: these faults. Knows nothing of: when they come. Rule: chance comes with the strike.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Nemesis } from './nemeses.ts'
import type { NodeDisk } from './node-disk.ts'

const SECTOR_BYTES = 512
/** Both heads of a segment lie before it. */
const HEADS_BYTES = 4096
/** From barely noticeable to a transfer of leadership; below the threshold of a stalled disk. */
const FLUSHES_MS = [20, 80, 250]
/** As small as RELIABILITY.md says that it may be. */
const SMALL_HEAP_MIB = 96

/** All hosts at once: no node has room, so none is better than another. */
export const fillAllDisks: Nemesis = async ({ disks }) => {
  const all = [...disks.values()]
  await Promise.all(all.map((disk) => disk.fill()))
  return {
    what: 'fill all disks',
    // Of those that join or have left, too.
    excused: [...disks.keys()],
    heal: async () => all.forEach((disk) => disk.free()),
  }
}

export const slowDisk: Nemesis = async (ground, { choices }) => {
  const victim = choices[1] < 0.5 ? await ground.leader() : ground.anyMember(choices[0])
  const flushMs = FLUSHES_MS[Math.floor(choices[0] * FLUSHES_MS.length)] ?? 0
  const disk = ground.diskOf(victim)
  disk.fails({ flushMs })
  return {
    what: `each flush of ${victim} takes ${flushMs} ms longer`,
    heal: async () => disk.fails({}),
  }
}

/** One unreadable sector at a start, and until the fault ends: this disk holds one copy of its log entries. */
export const unreadableLog: Nemesis = async (ground, { choices }) => {
  const victim = ground.anyMember(choices[0])
  await ground.cluster.signal(victim, 'SIGKILL')
  const disk = ground.diskOf(victim)
  const { path, from } = sectorOfLog(disk, choices[1])
  disk.fails({ unreadable: path, part: { from, end: from + SECTOR_BYTES } })
  ground.cluster.startNode(victim)
  return {
    what: `kill ${victim} and start it with a log that cannot be read at byte ${from}`,
    heal: async () => disk.fails({}),
  }
}

/** Stays until its next start. */
export const smallMemory: Nemesis = async (ground, { choices }) => {
  const victim = choices[1] < 0.5 ? await ground.leader() : ground.anyMember(choices[0])
  await ground.cluster.signal(victim, 'SIGKILL')
  ground.heaps.set(victim, SMALL_HEAP_MIB)
  ground.cluster.startNode(victim)
  return {
    what: `kill ${victim} and start it with a heap of ${SMALL_HEAP_MIB} MiB`,
    heal: async () => void ground.heaps.delete(victim),
  }
}

/** An offset in the newest segment after its headers; in a shorter segment, after its end. */
function sectorOfLog(disk: NodeDisk, choice: number): { readonly path: string; readonly from: number } {
  const folder = join(disk.dataDir, 'raft')
  const names = readdirSync(folder).filter((name) => name.endsWith('.wal'))
  const path = join(folder, names.toSorted().at(-1) ?? '')
  const sectors = Math.max(1, Math.floor((statSync(path).size - HEADS_BYTES) / SECTOR_BYTES))
  return { path, from: HEADS_BYTES + Math.floor(choice * sectors) * SECTOR_BYTES }
}
