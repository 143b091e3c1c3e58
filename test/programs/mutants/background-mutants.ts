/**
 * Bugs in the background work of a node: removal in groups, the sweep, the inventory, the checks at a start.
 *
 * Rule: each omits one rule of that work, and a test of the part kills it.
 */
import type { Mutant } from './mutant.ts'

const REMOVER = { tests: ['test/repair/copy-remover.test.ts'] }
const SWEEP = { tests: ['test/repair/copy-sweep.test.ts'] }
const UNCHANGED = { tests: ['test/blobs/unchanged-copies.test.ts'] }
const TABLES = { tests: ['test/store/table-check.test.ts'] }
const CRASHES = { tests: ['test/blobs/crash-points.test.ts'] }

export const BACKGROUND_MUTANTS: readonly Mutant[] = [
  {
    id: 'BG1',
    bug: 'a group of copies is removed although one of them is in use',
    file: 'cluster/blobs/disk/copy-locks.ts',
    find: '      if (!this.#turns.has(key)) free.set(key, name)\n',
    replace: '      free.set(key, name)\n',
    killers: REMOVER,
  },
  {
    id: 'BG2',
    bug: 'a group of files counts as removed before their directories are flushed',
    file: 'cluster/blobs/files/file-blob-store.ts',
    find: '    await this.#syncShards([...shards])\n',
    replace: '    void this.#syncShards([...shards]).catch(() => undefined)\n',
    killers: CRASHES,
  },
  {
    id: 'BG3',
    bug: 'a group of packed copies counts as removed before the index is flushed',
    file: 'cluster/blobs/packs/pack-blob-store.ts',
    find: `      ),
    )
    await this.#index.flush()
`,
    replace: `      ),
    )
`,
    killers: CRASHES,
  },
  {
    id: 'BG4',
    bug: 'a pack that is gone is forgotten before its absence is durable',
    file: 'cluster/blobs/packs/pack-recovery.ts',
    find: '    if (gone.length > 0) await guard.sync(() => ops.syncDirectory(layout.packDirectory))\n',
    replace: '    void [guard, ops, layout]\n',
    killers: CRASHES,
  },
  {
    id: 'BG5',
    bug: 'a group is removed by its old drop rows, regardless of the present rows',
    file: 'cluster/repair/copy-remover.ts',
    find: '    const going = names.filter((name) => mayRemove(ledger.copyStatus(name, nodeId)))\n',
    replace:
      '    const going = names.filter((name) => mayRemove(ledger.copyStatus(name, nodeId)) || names.length > 1)\n',
    killers: REMOVER,
  },
  {
    id: 'BG6',
    bug: 'tables that a start left unread are never read',
    file: 'src/store/apply/level-state-machine.ts',
    find: '    if (opened.unread.size > 0 || opened.isValueUnread) this.#check',
    replace: '    if (opened.unread.size > 1e9) this.#check',
    killers: TABLES,
  },
  {
    id: 'BG7',
    bug: 'a start leaves tables unread after a stop that was not clean, too',
    file: 'src/store/state/state-opening.ts',
    find: 'stop === null ? Infinity : wholeBytesMax',
    replace: 'wholeBytesMax',
    killers: TABLES,
  },
  {
    id: 'BG8',
    bug: 'the filter of a table is not read before the table is opened',
    file: 'src/store/level/level-table.ts',
    find: '    for (const filter of handlesIn(await blocks.at(meta))) await blocks.at(filter)\n',
    replace:
      "    for (const filter of handlesIn(await blocks.at(meta))) if (part === 'whole') await blocks.at(filter)\n",
    killers: { tests: ['test/store/level-files.test.ts'] },
  },
  {
    id: 'BG9',
    bug: 'a table that does not count any more is reported as damage',
    file: 'src/store/state/table-check.ts',
    find: '      if (fault === null || !(await liveFiles(location)).tables.has(number)) continue\n',
    replace: '      if (fault === null) continue\n',
    killers: TABLES,
  },
  {
    id: 'BG10',
    bug: 'the mark of a clean stop is kept although a walk was cut short',
    file: 'cluster/repair/copy-sweep.ts',
    find: '    if (!isWhole) this.onStoreUnknown()\n',
    replace: '    void isWhole\n',
    killers: SWEEP,
  },
  {
    id: 'BG11',
    bug: 'the mark of a clean stop is still there after an unclean one',
    file: 'cluster/repair/sweep-file.ts',
    find: '      await this.#ops.unlink(this.#path)\n',
    replace: '      void this.#ops.unlink\n',
    killers: SWEEP,
  },
  {
    id: 'BG12',
    bug: 'a mark of a clean stop is believed although the index of the packs was made again',
    file: 'cluster/repair/copy-sweep.ts',
    find: '    this.#isUnknown = open === null || this.#wasStoreUnknown\n',
    replace: '    this.#isUnknown = open === null\n',
    killers: SWEEP,
  },
  {
    id: 'BG13',
    bug: 'a copy is settled by the drop row that its removal is about to end',
    file: 'cluster/repair/fresh-copies.ts',
    find: '    if (this.#candidates.get(key)?.isPinned === false) this',
    replace: '    this',
    killers: SWEEP,
  },
  {
    id: 'BG14',
    bug: 'copies without space are omitted silently',
    file: 'cluster/repair/fresh-copies.ts',
    find: '      this.#isFull = true\n',
    replace: '',
    killers: SWEEP,
  },
  {
    id: 'BG15',
    bug: 'a listing of a directory is believed although the directory changed while it was read',
    file: 'cluster/blobs/files/shard-listings.ts',
    find: '    if (changes !== this.#changes) return names\n',
    replace: '    void changes\n',
    killers: { tests: ['test/blobs/shard-listings.test.ts'] },
  },
  {
    id: 'BG16',
    bug: 'a shortened pack counts as unchanged',
    file: 'cluster/blobs/packs/pack-blob-store.ts',
    find: '        return (await length) >= place.offset + HEADER_BYTES + place.size\n',
    replace: '        return (await length) > 0\n',
    killers: UNCHANGED,
  },
  {
    id: 'BG17',
    bug: 'copies count as they were left after a stop that was not clean',
    file: 'cluster/blobs/packs/pack-index.ts',
    find: '    this.#isUnchanged = audit.isClean && audit.fault === null\n',
    replace: '    this.#isUnchanged = audit.fault === null\n',
    killers: UNCHANGED,
  },
  {
    id: 'BG18',
    bug: 'a copy with another size than in its row counts as unchanged',
    file: 'cluster/blobs/packs/pack-blob-store.ts',
    find: '        if (place === null || place.size !== copy.size) return false\n',
    replace: '        if (place === null) return false\n',
    killers: UNCHANGED,
  },
  {
    id: 'BG19',
    bug: 'the inventory takes copies that the store does not know as good',
    file: 'cluster/repair/inventory.ts',
    find: 'refs.filter((_, at) => areUnchanged[at] !== true)',
    replace: 'refs.filter((_, at) => areUnchanged[at] === true)',
    killers: { tests: ['test/repair/inventory.test.ts'] },
  },
  {
    id: 'BG20',
    bug: 'the inventory reads frames as fast as the disk gives them',
    file: 'cluster/repair/inventory.ts',
    find: '        else await throttle.pass(FRAME_BYTES)\n',
    replace: '        else void throttle\n',
    killers: { tests: ['test/repair/inventory.test.ts'] },
  },
  {
    id: 'BG21',
    bug: 'one copy that may not be listed blocks the later ones in its entry',
    file: 'src/state-machine/chunks/copies.ts',
    find: 'accept({ listed: copies.filter((copy) =>',
    replace: 'accept({ listed: copies.slice(0, 1).filter((copy) =>',
    killers: { tests: ['test/state-machine/copies.test.ts'] },
  },
  {
    id: 'BG22',
    bug: 'the lock of a made copy is released before it is listed',
    file: 'cluster/repair/repair-engine.ts',
    find: '      if (isMade) await this.#reports.report(task)\n',
    replace: '      if (isMade) this.#reports.report(task).catch(() => undefined)\n',
    killers: { tests: ['test/repair/repair-engine.test.ts'] },
  },
  {
    id: 'BG23',
    bug: 'copies are listed by a command that a member may not know',
    file: 'src/store/ledger/copy-ledger.ts',
    find: '      const isKnown = await levels.reachesLevel(COMMAND_LEVELS.addReplicas, 0)\n',
    replace: '      const isKnown = true\n',
    killers: { tests: ['test/store/copy-ledger.test.ts'] },
  },
  {
    id: 'BG24',
    bug: 'a file that is written without the page cache keeps the zeros behind its last byte',
    file: 'cluster/blobs/files/file-blob-store.ts',
    find: 'this.#ops.truncate(file, HEADER_BYTES + expected.size)',
    replace: 'this.#ops.truncate(file, 2 * HEADER_BYTES + expected.size)',
    killers: { tests: ['test/blobs/uncached-files.test.ts'] },
  },
  {
    id: 'BG25',
    bug: 'of a file that is written without the page cache only the first bytes are compared',
    file: 'cluster/blobs/files/uncached-writes.ts',
    find: '    this.#options.check(this.#memory.subarray(this.#checked, this.#filled))\n',
    replace: '    this.#options.check(this.#memory.subarray(this.#checked, this.#filled - 1))\n',
    killers: { tests: ['test/blobs/uncached-files.test.ts'] },
  },
]
