/**
 * `holdfast backup target set|list|show|remove`. Rule: a secret comes from the environment or a file, never from the command line.
 */
import { readFileSync } from 'node:fs'
import type { BackupTarget } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printFacts, printJson, printTable } from '../base/printing.ts'
import { sourceCredentials } from '../base/store-credentials.ts'
import { type ChangeOptions, rehearsal, reportChange } from '../admin/outcome.ts'

export interface TargetOptions extends AdminAccessOptions, ChangeOptions {}

export interface SetTargetOptions extends TargetOptions {
  /** true: without a folder. */
  readonly directory?: string | true
  readonly s3?: string
  readonly bucket?: string
  readonly prefix?: string
  readonly region?: string
  readonly keyFile?: string
  readonly storeCa?: string
}

export function setTarget(name: string, options: SetTargetOptions): Promise<number> {
  const body = bodyOf(options)
  return askAdmin(options, async (client) => {
    const call = { params: { name }, body, query: rehearsal(options) }
    const { answer } = await client.call('setBackupTarget', call)
    return reportChange<BackupTarget>(answer, options, (target) => printFacts(factsOf(target)))
  })
}

export function listTargets(options: TargetOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { targets } = (await client.call('listBackupTargets', {})).answer
    if (options.json) for (const target of targets) printJson(target)
    else printTable(targets.map((target) => [target.name, placeOf(target)]))
    return EXIT.done
  })
}

export function showTarget(name: string, options: TargetOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('getBackupTarget', { params: { name } })
    if (options.json) printJson(answer)
    else printFacts(factsOf(answer))
    return EXIT.done
  })
}

export function removeTarget(name: string, options: TargetOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('deleteBackupTarget', {
      params: { name },
      query: rehearsal(options),
    })
    if (answer === undefined && !options.json)
      note(`${name} is no backup target any more; what lies there stays`)
    return reportChange<object>(answer, options, () => {})
  })
}

function bodyOf(options: SetTargetOptions) {
  const { directory, s3, bucket, prefix, region, keyFile, storeCa } = options
  if (directory !== undefined) return { directory: directory === true ? {} : { folder: directory } }
  if (s3 === undefined || bucket === undefined)
    throw new CommandError('The place of the target is not named', {
      code: 'invalid_argument',
      hint: 'Write --directory, or --s3 with an address and --bucket.',
      exitCode: EXIT.usage,
    })
  const { accessKeyId, secretKey } = sourceCredentials(keyFile, { option: '--key-file', of: 'the target' })
  return {
    s3: {
      endpoint: s3,
      bucket,
      accessKeyId,
      secretKey,
      ...(prefix === undefined ? {} : { prefix }),
      ...(region === undefined ? {} : { region }),
      ...(storeCa === undefined ? {} : { ca: readFileSync(storeCa, 'utf8') }),
    },
  }
}

function placeOf({ directory, s3 }: BackupTarget): string {
  if (s3 === null) return `directory ${directory?.folder || '.'}`
  return `s3 ${[s3.endpoint, s3.bucket, s3.prefix].filter(Boolean).join('/')}`
}

const factsOf = (target: BackupTarget): Readonly<Record<string, string>> => ({
  name: target.name,
  place: placeOf(target),
  ...(target.s3 === null ? {} : { region: target.s3.region, 'access key': target.s3.accessKeyId }),
  set: target.updatedAt,
})
