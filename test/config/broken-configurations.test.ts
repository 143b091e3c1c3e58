/**
 * What `holdfast config check` refuses, a start refuses, and the other way: same code, same sentence, same hint. Over every setting in
 * every way in which its kind can be wrong, contradictions, files that settings name, and foreign data.
 *
 * What only a start can find is listed in docs/start-errors.md, and the last test holds this table against that list.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { StartError } from '../../cluster/index.ts'
import { foundBy, START_ERRORS } from '../../scripts/pages/start-errors.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { examineStart } from '../../src/cli/local/config-command.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import type { Setting } from '../../src/config/settings/setting.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { startService } from '../../src/service/service.ts'
import { SILENT } from '../helpers/loggers.ts'
import { MadeCertificates } from '../transport/made-certificates.ts'
import { OF_DISKS } from './broken-disks.ts'
import { type BrokenConfiguration, CONTRADICTIONS, OF_DATA, ofFiles } from './broken-files.ts'
import { brokenValues } from './broken-values.ts'
import { withSettings } from './written-config.ts'

/** As an operator reads it. */
interface Read {
  readonly code: string
  readonly message: string
  readonly hint: string
}

const read = ({ code, message, hint }: Read): Read => ({ code, message, hint })

class Bench {
  readonly #t: Test
  /** The text of a good key file. */
  readonly #key: string
  constructor(t: Test, key: string) {
    this.#t = t
    this.#key = key
  }

  static async of(t: Test): Promise<Bench> {
    const file = join(folderOf(t), 'key')
    await MasterKey.create(file)
    return new Bench(t, readFileSync(file, 'utf8'))
  }

  /** The first error of a check and that of a start; null: it is not refused. */
  async compare(
    row: BrokenConfiguration,
  ): Promise<{ readonly check: Read | null; readonly start: Read | null }> {
    const { settings = {}, environment = {}, joins = false, prepare } = row
    const folder = folderOf(this.#t)
    writeFileSync(join(folder, 'key'), this.#key, { mode: 0o600 })
    prepare?.(folder)
    const file = join(folder, 'node.yaml')
    writeFileSync(file, withSettings(settings))
    const { errors } = await examineStart({ config: file, join: joins }, environment)
    const [first] = errors
    const check = first === undefined ? null : read(first)
    const start = await refusedStart(file, environment, joins)
    return { check, start }
  }
}

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-broken-'))
  chmodSync(folder, 0o700)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function refusedStart(
  file: string,
  environment: Readonly<Record<string, string>>,
  isJoining: boolean,
): Promise<Read | null> {
  try {
    const service = await startService(loadConfig(file, environment), SILENT, { isJoining })
    await service.stop()
    return null
  } catch (error) {
    if (error instanceof StartError) return read(error)
    throw error
  }
}

const ALL: readonly Setting[] = SETTINGS
const seen = new Set<string>()

function same(t: Test, row: BrokenConfiguration, result: Awaited<ReturnType<Bench['compare']>>): void {
  const { check, start } = result
  t.equal(check?.code, row.code, `${row.what}: refused by the check`)
  t.same(check, start, `${row.what}: the start says the same`)
  t.match(check?.hint, /^\S.*(\.|\?|chmod [67]00 \S+)$/s, `${row.what}: the hint is a sentence`)
  if (check !== null) seen.add(check.code)
}

t.test('every setting, wrong in every way of its kind', async (t) => {
  const bench = await Bench.of(t)
  for (const setting of ALL)
    for (const { what, text } of brokenValues(setting)) {
      const row = {
        what: `${setting.name}: ${what}`,
        code: 'invalid_config',
        settings: { [setting.name]: text },
      }
      same(t, row, await bench.compare(row))
    }
  for (const { name, fallback, optional } of ALL) {
    if (fallback !== null || optional === true) continue
    const row = { what: `${name}: missing`, code: 'invalid_config', settings: { [name]: null } }
    same(t, row, await bench.compare(row))
  }
})

t.test('settings that contradict each other, and those that no machine of several may have', async (t) => {
  const bench = await Bench.of(t)
  for (const row of CONTRADICTIONS) same(t, row, await bench.compare(row))
})

t.test('data directories that are not those of this node', async (t) => {
  const bench = await Bench.of(t)
  for (const row of OF_DATA) same(t, row, await bench.compare(row))
})

t.test('directories for blobs that are not disks of this node', async (t) => {
  const bench = await Bench.of(t)
  for (const row of OF_DISKS) same(t, row, await bench.compare(row))
})

t.test('files that settings name', async (t) => {
  const bench = await Bench.of(t)
  const rows = ofFiles(new MadeCertificates(t))
  for (const row of rows) same(t, row, await bench.compare(row))
  // A missing data directory is made, and a witness that cannot be kept is a line in the log.
  // A backup says that its disk is not mounted.
  const exempt = ['node.data_dir', 'node.witness_dir', 'backup.directory']
  for (const { name, kind } of ALL.filter(
    (setting) => setting.kind === 'path' && !exempt.includes(setting.name),
  ))
    for (const what of ['a missing file', 'a folder', 'other contents'])
      t.ok(
        rows.some((row) => row.what === `${name}: ${what}`),
        `${kind} ${name} has a row: ${what}`,
      )
})

t.test('a configuration that is right passes both', async (t) => {
  const bench = await Bench.of(t)
  const free = {
    'listeners.data': '127.0.0.1:0',
    'listeners.admin': '127.0.0.1:0',
    'listeners.peer': '127.0.0.1:0',
  }
  t.same(await bench.compare({ what: 'nothing', code: '', settings: free }), { check: null, start: null })
})

t.test(
  'docs/start-errors.md says of each code whether the check finds it, and this table found each',
  async (t) => {
    const checked = Object.keys(START_ERRORS).filter((code) => foundBy(code) === 'check')
    t.same([...seen].toSorted(), checked.toSorted())
  },
)
