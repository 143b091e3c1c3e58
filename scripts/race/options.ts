/**
 * What `npm run race` accepts.
 */
import { basename, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { etcdVersion } from '../bench/raft-system.ts'
import { UsageError, wholeNumber } from '../local/options.ts'
import { ROW_IDS } from './rows.ts'
import { readRunning, type RunningS3 } from './running-s3.ts'

export const SYSTEM_NAMES = ['holdfast', 's3', 'etcd', 'minio'] as const
export type SystemName = (typeof SYSTEM_NAMES)[number]

export interface RaceOptions {
  /** How long each row is measured; with `operations` only a bound. */
  readonly seconds: number
  /** After how many operations a row ends; null: after its time. */
  readonly operations: number | null
  readonly passes: number
  readonly clients: number
  readonly idleSeconds: number
  readonly compareEach: number
  readonly chosen: readonly string[]
  /** In the order of the first pass. */
  readonly systems: readonly SystemName[]
  /** Programs by the name of their system, where another than the one in the path is meant. */
  readonly programs: Readonly<Partial<Record<SystemName, string>>>
  /** Descriptions of systems that run already, in the order of the first pass, after the others. */
  readonly running: readonly RunningS3[]
  readonly against: string | null
  readonly configFile: string | null
  readonly againstConfigFile: string | null
  /** The page, and beside it the same as JSON and as a picture. */
  readonly outFile: string | null
}

export const RACE_USAGE = `npm run race -- [--against DIR] [--rows ID,...] [--passes N] [--seconds S] [--clients N] [--out FILE.md] ...

  --against DIR      another checkout of Holdfast with its node_modules: two builds in turns
  --systems NAME,...  which take part (default holdfast, with etcd where it is installed or given, and minio where it is given):
                     holdfast, s3 (our nodes through the S3 API), etcd, minio
  --etcd FILE        the program of etcd, when it is not in the path: three members through its HTTP gateway
  --minio FILE       the program of MinIO: three servers, one erasure set
  --running FILE     another S3 system that runs on this machine, by a YAML file with name, version, durability, endpoints, accessKeyId, secretKey,
                     folder and, for its processor time, pids; may be given several times
  --rows ID,...      only these rows: ${ROW_IDS.join(', ')}
  --passes N         turns of each system, 1 to 20 (default 2); the order is turned round with each
  --seconds S        how long each row is measured, 1 to 600 (default 5; with --operations a bound, default 120)
  --operations N     end each row after N operations, 1 to 1000000, the warm-up too: on a crowded machine both builds then do the same
  --clients N        clients of the small rows, 1 to 1024 (default 64)
  --idle S           seconds without requests at the beginning of each turn, 0 to 600 (default 3)
  --compare N        one answer in N is compared with what was written, 1 to 1000000 (default 32)
  --config FILE      settings (YAML) for the nodes of Holdfast, over the defaults
  --against-config FILE  the same for the nodes of --against; without it they get those of --config
  --out FILE.md      the page; FILE.json and FILE.svg are written beside it
`

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        against: { type: 'string' },
        systems: { type: 'string' },
        etcd: { type: 'string' },
        minio: { type: 'string' },
        running: { type: 'string', multiple: true, default: [] },
        rows: { type: 'string' },
        passes: { type: 'string', default: '2' },
        seconds: { type: 'string' },
        operations: { type: 'string' },
        clients: { type: 'string', default: '64' },
        idle: { type: 'string', default: '3' },
        compare: { type: 'string', default: '32' },
        config: { type: 'string' },
        'against-config': { type: 'string' },
        out: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

function rowsOf(text: string | undefined): readonly string[] {
  if (text === undefined) return ROW_IDS
  const ids = text.split(',')
  const known: readonly string[] = ROW_IDS
  const unknown = ids.find((id) => !known.includes(id))
  if (unknown !== undefined)
    throw new UsageError(`--rows has no '${unknown}', expected some of ${ROW_IDS.join(', ')}`)
  return ids
}

/** Without a choice: ours, etcd where it is, and what a program was given for; with --against only ours. */
function systemsOf(values: ReturnType<typeof parse>): readonly SystemName[] {
  const { systems, against, minio, etcd } = values
  if (systems === undefined) {
    if (against !== undefined) return ['holdfast']
    const hasEtcd = etcdVersion(etcd) !== null
    return [
      'holdfast',
      ...(hasEtcd ? (['etcd'] as const) : []),
      ...(minio === undefined ? [] : (['minio'] as const)),
    ]
  }
  return systems.split(',').map((word) => {
    const found = SYSTEM_NAMES.find((name) => name === word)
    if (found === undefined)
      throw new UsageError(`--systems has no '${word}', expected some of ${SYSTEM_NAMES.join(', ')}`)
    return found
  })
}

/** Null when help was requested. Throws UsageError. */
export function parseRaceOptions(argv: readonly string[]): RaceOptions | null {
  const values = parse(argv)
  if (values.help) return null
  const { out, config, 'against-config': againstConfig, against } = values
  if (out !== undefined && !out.endsWith('.md'))
    throw new UsageError(`--out takes a file that ends in .md, got '${basename(out)}'`)
  if (againstConfig !== undefined && against === undefined)
    throw new UsageError(
      '--against-config is for the nodes of --against: name a checkout, or this one with --against .',
    )
  const seconds = values.seconds ?? (values.operations === undefined ? '5' : '120')
  return {
    seconds: wholeNumber(seconds, '--seconds', { min: 1, max: 600 }),
    operations:
      values.operations === undefined
        ? null
        : wholeNumber(values.operations, '--operations', { min: 1, max: 1_000_000 }),
    passes: wholeNumber(values.passes, '--passes', { min: 1, max: 20 }),
    clients: wholeNumber(values.clients, '--clients', { min: 1, max: 1024 }),
    idleSeconds: wholeNumber(values.idle, '--idle', { min: 0, max: 600 }),
    compareEach: wholeNumber(values.compare, '--compare', { min: 1, max: 1_000_000 }),
    chosen: rowsOf(values.rows),
    systems: systemsOf(values),
    programs: {
      ...(values.etcd === undefined ? {} : { etcd: resolve(values.etcd) }),
      ...(values.minio === undefined ? {} : { minio: resolve(values.minio) }),
    },
    running: values.running.map((file) => readRunning(resolve(file))),
    against: against === undefined ? null : resolve(against),
    configFile: config === undefined ? null : resolve(config),
    againstConfigFile: againstConfig === undefined ? null : resolve(againstConfig),
    outFile: out === undefined ? null : resolve(out),
  }
}
