/**
 * Bugs in sealed metadata: a row that is not found, shown twice or out of order, a name that stays readable, a key that does not open.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const DATABASE = 'store/sealed-database'
const CIPHER = 'base/metadata-cipher'
const KEY = 'access/metadata-key'
const WRITER = 'src/store/rows/page-writer.ts'

const rows: readonly TestedRow[] = [
  [
    'SM1',
    'sealed bytes open at any place',
    'cluster/base/metadata-cipher.ts',
    '    input.set(context, HEAD_BYTES)\n',
    '    input.fill(0, HEAD_BYTES, HEAD_BYTES + context.length)\n',
    CIPHER,
  ],
  [
    'SM2',
    'what was changed opens all the same',
    'cluster/base/metadata-cipher.ts',
    "return sealed.toString('latin1', 0, SEALED_OVERHEAD) === authenticator ? plain : null",
    "return sealed.toString('latin1', 0, SEALED_OVERHEAD) !== '' && authenticator !== '' ? plain : null",
    CIPHER,
  ],
  [
    'SM3',
    'every block of a text has the same stream',
    'cluster/base/metadata-cipher.ts',
    'first + block / BLOCK, block',
    'first, block',
    CIPHER,
  ],
  [
    'SM4',
    'a row that moves stays in its former page too',
    WRITER,
    '        this.#remove(page.id, row.name)\n',
    '',
    DATABASE,
  ],
  [
    'SM5',
    'a divided page is not in the directory on the disk',
    WRITER,
    "      this.#operations.push({ type: 'put', ...this.#parts.form.pageEntry(made.id, made.first) })\n",
    '',
    DATABASE,
  ],
  [
    'SM6',
    'the generation on the disk does not rise',
    WRITER,
    "    this.#operations.push({ type: 'put', ...form.generationEntry(next.generation) })\n",
    '',
    DATABASE,
  ],
  [
    'SM7',
    'a page without rows stays forever',
    WRITER,
    'if (count.rows === 0 && page.first.length > 0)',
    'if (count.rows < 0 && page.first.length > 0)',
    DATABASE,
  ],
  [
    'SM8',
    'rows of a page come in the order in which LevelDB has them',
    'src/store/rows/sealed-iterator.ts',
    '    rows.sort((one, other) => (one.text < other.text ? -1 : 1))\n',
    '',
    DATABASE,
  ],
  [
    'SM9',
    'a row that LevelDB has moved already is not found until the batch has ended here',
    'src/store/rows/sealed-database.ts',
    'return found === undefined && pending !== page ? this.#rowIn(pending, key) : found',
    'return found',
    DATABASE,
  ],
  [
    'SM10',
    'a snapshot during a write takes the directory of before, whatever it holds',
    'src/store/rows/sealed-database.ts',
    'return generation === pending.generation ? pending : this.#directory',
    'return generation === -1 ? pending : this.#directory',
    DATABASE,
  ],
  [
    'SM11',
    'the key is wrapped by one master key only',
    'src/access/metadata-key.ts',
    '  if (!isWhole) await write(dataDir, key, masterKey)\n',
    '',
    KEY,
  ],
  [
    'SM12',
    'a directory with plain bytes counts as sealed',
    'src/access/metadata-key.ts',
    '  if (holders.length > 0) throw isPlain(dataDir, holders)\n',
    '',
    KEY,
  ],
  [
    'SM13',
    'a state is opened with any metadata key, and given up',
    'src/store/state/state-directory.ts',
    '  if (found === expected) return\n',
    "  if (dir !== '') return\n",
    KEY,
  ],
]

export const SEALED_MUTANTS: readonly Mutant[] = killedByTests(rows)
