/**
 * duplicity: a full and an incremental backup through boto3, verified and restored.
 */
import { deepEqual, match, ok } from 'node:assert/strict'
import type { ClientScript, FoundClient } from './base/client-script.ts'
import { digestsOf, listed, writeLocal, writeTree } from './base/files.ts'
import { type Program, programsNamed, ran } from './base/programs.ts'
import type { Stage } from './base/stage.ts'

async function play(stage: Stage, program: Program): Promise<void> {
  const bucket = stage.bucket('duplicity')
  const env = {
    AWS_ACCESS_KEY_ID: stage.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: stage.credentials.secretKey,
    AWS_CONFIG_FILE: stage.path('no-config'),
    AWS_DEFAULT_REGION: 'us-east-1',
    HOME: stage.folder,
  }
  const url = `boto3+s3://${bucket}/backups`
  const duplicity = async (endpoint: string, ...args: readonly string[]): Promise<string> => {
    const own = [
      '--no-encryption',
      '--archive-dir',
      stage.path('archive'),
      '--s3-endpoint-url',
      endpoint,
      '--volsize',
      '5',
    ]
    const [action = '', ...rest] = args
    const command = [program.path, action, ...own, ...rest]
    return (await ran(command, { env, cwd: stage.folder })).toString()
  }
  const tree = await writeTree(stage.path('tree'), stage.sizes.many)
  tree.set('big.bin', (await writeLocal(stage.path('tree', 'big.bin'), stage.sizes.bigBytes, 'big')).sha256)
  await stage.native.client.call('createBucket', { body: { name: bucket } })

  await stage.step('full', (at) => duplicity(at, 'full', stage.path('tree'), url))
  await stage.step('incremental', async (at) => {
    tree.set('new.txt', (await writeLocal(stage.path('tree', 'new.txt'), 500, 'new')).sha256)
    await duplicity(at, 'incremental', stage.path('tree'), url)
  })
  await stage.step('collection-status', async (at) =>
    match(await duplicity(at, 'collection-status', url), /Incremental/),
  )
  await stage.step('verify --compare-data', (at) =>
    duplicity(at, 'verify', '--compare-data', url, stage.path('tree')),
  )
  await stage.step('restore', async (at) => {
    await duplicity(at, 'restore', url, stage.path('back'))
    deepEqual(listed(await digestsOf(stage.path('back'))), listed(tree))
  })
  await stage.step('the native API lists the volumes', async () => {
    ok((await stage.native.keys(bucket, 'backups/')).some((key) => /\.vol1\.difftar/.test(key)))
  })
  await stage.step('remove-all-but-n-full, cleanup', async (at) => {
    await duplicity(at, 'remove-all-but-n-full', '1', '--force', url)
    await duplicity(at, 'cleanup', '--force', url)
  })
}

export const DUPLICITY: ClientScript = {
  name: 'duplicity',
  absence: 'apt-get install duplicity python3-boto3',
  find: () =>
    programsNamed('duplicity').map(
      (program): FoundClient => ({
        version: program.version.replace('duplicity ', ''),
        play: (stage) => play(stage, program),
      }),
    ),
}
