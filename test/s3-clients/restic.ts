/**
 * restic: a repository with backups, checked, pruned and restored; a backup that is killed and made again.
 */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { until } from '../helpers/async.ts'
import type { ClientScript, FoundClient } from './base/client-script.ts'
import { digestsOf, listed, writeLocal, writeTree } from './base/files.ts'
import { endOf, type Program, programsNamed, ran, started } from './base/programs.ts'
import type { Stage } from './base/stage.ts'

interface Snapshot {
  readonly short_id: string
}

async function play(stage: Stage, program: Program): Promise<void> {
  const bucket = stage.bucket('restic')
  const env = {
    AWS_ACCESS_KEY_ID: stage.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: stage.credentials.secretKey,
    RESTIC_PASSWORD: 'a password of the test',
    RESTIC_CACHE_DIR: stage.path('cache'),
  }
  const command = (endpoint: string, ...args: readonly string[]): readonly string[] => [
    program.path,
    '-r',
    `s3:${endpoint}/${bucket}/backups`,
    ...args,
  ]
  const restic = async (endpoint: string, ...args: readonly string[]): Promise<string> =>
    (await ran(command(endpoint, ...args), { env, cwd: stage.folder })).toString()
  mkdirSync(stage.path('cache'))
  const tree = await writeTree(stage.path('tree'), stage.sizes.many)
  const snapshots = async (endpoint: string): Promise<readonly Snapshot[]> =>
    JSON.parse(await restic(endpoint, 'snapshots', '--json')) as Snapshot[]

  await stage.step('init', (at) => restic(at, 'init'))
  await stage.step('backup', (at) => restic(at, 'backup', 'tree'))
  tree.set('big.bin', (await writeLocal(stage.path('tree', 'big.bin'), stage.sizes.bigBytes, 'big')).sha256)
  await stage.step('a backup is killed', async (at) => {
    const before = (await stage.native.keys(bucket, 'backups/data/')).length
    const backup = started(command(at, 'backup', '--limit-upload', '2000', 'tree'), {
      env,
      cwd: stage.folder,
    })
    const end = endOf(backup)
    await until(
      'a pack of it is stored',
      async () =>
        backup.exitCode !== null || (await stage.native.keys(bucket, 'backups/data/')).length > before,
    )
    backup.kill('SIGKILL')
    await end
    equal((await snapshots(at)).length, 1)
  })
  await stage.step('unlock; backup again', async (at) => {
    await restic(at, 'unlock')
    await restic(at, 'backup', 'tree')
    equal((await snapshots(at)).length, 2)
  })
  await stage.step('check --read-data', (at) => restic(at, 'check', '--read-data'))
  await stage.step('restore', async (at) => {
    await restic(at, 'restore', 'latest', '--target', stage.path('back'))
    deepEqual(listed(await digestsOf(stage.path('back', 'tree'))), listed(tree))
  })
  await stage.step('the native API lists the repository', async () => {
    const keys = await stage.native.keys(bucket, 'backups/')
    ok(keys.includes('backups/config'))
    equal(keys.filter((key) => key.startsWith('backups/snapshots/')).length, 2)
  })
  await stage.step('forget --prune', async (at) => {
    await restic(at, 'forget', '--keep-last', '1', '--prune')
    equal((await snapshots(at)).length, 1)
  })
  await stage.step('check after it', (at) => restic(at, 'check'))
}

export const RESTIC: ClientScript = {
  name: 'restic',
  absence: 'apt-get install restic',
  find: () =>
    programsNamed('restic', ['version']).map(
      (program): FoundClient => ({
        version: program.version.split(' ')[1] ?? '',
        play: (stage) => play(stage, program),
      }),
    ),
}
