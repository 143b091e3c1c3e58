/**
 * `holdfast import`: copies buckets of another S3 store into the cluster.
 *
 * Owns: the order of the steps. Rules: memory does not grow with the number of objects; what is there already is found by asking the target, so that the same
 * command continues wherever the last one ended, on any machine.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { isPlainHttpElsewhere } from '../../base/plain-http.ts'
import { useMaskOfCaller } from '../../base/private-files.ts'
import { ApiError, type Clock, type DataClient } from '../../client/clients.ts'
import { askData } from '../base/asking.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { forEachInOrder } from '../base/in-order.ts'
import { orInterrupted } from '../base/interruption.ts'
import { note } from '../base/printing.ts'
import { type Progress, progressOn } from '../base/progress.ts'
import { type RemotePath, remotePath } from '../objects/remote-path.ts'
import { asFolder } from '../sync/remote-side.ts'
import { BytesRate } from './bytes-rate.ts'
import { type Copier, copyObject } from './copy-object.ts'
import { stepFor } from './import-record.ts'
import { ImportReport } from './import-report.ts'
import { OpenUploads } from './open-uploads.ts'
import { type SourcePath, sourceEndpoint, sourcePath } from './source-address.ts'
import { PATIENT, SourceClient } from './source-client.ts'
import { sourceCredentials } from '../base/store-credentials.ts'
import { type ListedSource, sourceBuckets, sourceObjects } from './source-listing.ts'
import { TargetIndex } from './target-index.ts'

export interface ImportOptions {
  /** Of the source. */
  readonly endpoint: string
  readonly region: string
  readonly virtualHost?: boolean
  readonly sourceKeyFile?: string
  readonly sourceCa?: string
  readonly targetEndpoint?: string
  readonly caFile?: string
  readonly clusterFile?: string
  readonly profile?: string
  readonly into?: string
  readonly all?: boolean
  readonly create?: boolean
  readonly overwrite?: boolean
  readonly tags: boolean
  readonly etagMd5: boolean
  readonly partSize: number
  readonly bytesPerSecond?: number
  readonly stateFolder: string
  readonly dryRun?: boolean
  readonly parallel: number
  readonly progress: boolean
  readonly json?: boolean
}

const CLOCK: Clock = {
  now: () => Date.now(),
  wait: (ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal }),
}
const HINT =
  'What was copied stays. The same command continues with the rest, in the middle of a large object too.'

export async function importBuckets(text: string, options: ImportOptions): Promise<number> {
  const from = sourcePath(text)
  const into = options.into === undefined ? null : asFolder(remotePath(options.into))
  refuseAmbiguous(from, into, options.all ?? false)
  const credentials = sourceCredentials(options.sourceKeyFile)
  const endpoint = sourceEndpoint(options.endpoint)
  const ca = options.sourceCa === undefined ? null : authorityIn(options.sourceCa)
  warnOfPlainHttp(endpoint)
  useMaskOfCaller()
  const { targetEndpoint, caFile, clusterFile, profile, region, virtualHost: isVirtualHost = false } = options
  const access = {
    ...(targetEndpoint === undefined ? {} : { endpoint: targetEndpoint }),
    ...(caFile === undefined ? {} : { caFile }),
    ...(profile === undefined ? {} : { profile }),
    ...(clusterFile === undefined ? {} : { clusterFile }),
  }
  const progress = progressOn(process.stderr, 'import', options.progress)
  const work = (client: DataClient): Promise<number> =>
    orInterrupted(HINT, async (signal) => {
      const source = new SourceClient({
        endpoint,
        isVirtualHost,
        region,
        credentials,
        ca,
        signal,
        clock: CLOCK,
        random: Math.random,
      })
      try {
        return await imported({ client, source, signal, progress, from, into, options })
      } finally {
        await source.close()
      }
    })
  try {
    // A target that is not there is reported at once; one that goes away later is waited for.
    await askData(access, (client) => client.call('healthz'))
    return await askData(access, work, PATIENT)
  } finally {
    progress.end()
  }
}

interface Import {
  readonly client: DataClient
  readonly source: SourceClient
  readonly signal: AbortSignal
  readonly progress: Progress
  readonly from: SourcePath
  readonly into: RemotePath | null
  readonly options: ImportOptions
}

async function imported(one: Import): Promise<number> {
  const { client, source, signal, progress, from, into, options } = one
  const { dryRun: isDryRun = false, json: isJson = false } = options
  const report = new ImportReport({ isDryRun, isJson, beforeLine: progress.clear })
  const uploads = new OpenUploads(options.stateFolder)
  const rate = new BytesRate(options.bytesPerSecond ?? Infinity, CLOCK)
  const copier: Copier = {
    client,
    access: { client: source, rate, signal, isEtagMd5: options.etagMd5 },
    uploads,
    partBytes: options.partSize,
    copiesTags: options.tags,
    onBytes: progress.advance,
  }
  if (from.bucket !== null) await importBucket(one, { bucket: from.bucket, copier, report, into })
  else
    for await (const bucket of sourceBuckets(source)) {
      try {
        await importBucket(one, { bucket, copier, report, into: null })
      } catch (cause) {
        report.bucketFailed(bucket, cause)
      }
    }
  await uploads.close()
  report.end()
  return report.exitCode
}

interface OneBucket {
  /** At the source. */
  readonly bucket: string
  readonly into: RemotePath | null
  readonly copier: Copier
  readonly report: ImportReport
}

async function importBucket(
  { client, source, from, progress, options }: Import,
  { bucket, into, copier, report }: OneBucket,
): Promise<void> {
  const { dryRun: isDryRun = false, overwrite = false, parallel } = options
  const { prefix } = from
  const to = into ?? { bucket, key: prefix }
  progress.call(`import ${to.bucket}`)
  const isThere = await hasBucket(client, to.bucket, options)
  const index = isThere ? new TargetIndex(client, { bucket: to.bucket, prefix: to.key }) : null
  const keyOf = ({ key }: ListedSource): string => to.key + key.slice(prefix.length)
  async function* lookedUp() {
    for await (const listed of sourceObjects(source, { bucket, prefix }))
      yield { listed, isTaken: (await index?.has(keyOf(listed))) ?? false }
  }
  await forEachInOrder(lookedUp(), parallel, async ({ listed, isTaken }, submit) => {
    const key = keyOf(listed)
    await report.tried({ path: `${to.bucket}/${key}`, size: listed.size, submit }, async () => {
      const target = isTaken && index !== null ? await index.find(key) : null
      const step = stepFor(listed, target, overwrite)
      // It was killed between the completion of the object and that of its file.
      if (step === 'keep' && listed.size > copier.partBytes)
        await copier.uploads.remove({ bucket: to.bucket, key })
      if (step === 'keep' || step === 'conflict') return { step }
      if (isDryRun) return { step, copied: null }
      const wanted = { bucket, source: listed, to: { bucket: to.bucket, key }, target }
      return { step, copied: await copyObject(copier, wanted) }
    })
  })
}

/** False, of a dry run: it would be created. Throws CommandError when it does not exist and may not be created. */
async function hasBucket(client: DataClient, name: string, options: ImportOptions): Promise<boolean> {
  try {
    await client.call('getBucket', { params: { bucket: name } })
    return true
  } catch (cause) {
    if (!(cause instanceof ApiError && cause.status === 404)) throw cause
    if (options.create !== true)
      throw new CommandError(`The target has no bucket '${name}'`, {
        code: 'not_found',
        hint: 'Create it with holdfast bucket create, or add --create.',
      })
  }
  if (options.dryRun === true) return false
  await client.call('createBucket', { body: { name } })
  return true
}

function refuseAmbiguous(from: SourcePath, into: RemotePath | null, isAll: boolean): void {
  if (isAll !== (from.bucket === null))
    throw usage(
      isAll ? 'With --all no bucket is named' : 'No bucket is named',
      'Write s3://bucket for one bucket, or s3:// with --all for every one.',
    )
  if (isAll && into !== null)
    throw usage(
      '--all and --into cannot be combined',
      'Every bucket keeps its name; import one by one for other names.',
    )
}

function authorityIn(file: string): string {
  const ca = readFileSync(file, 'utf8')
  if (ca.includes('-----BEGIN CERTIFICATE-----')) return ca
  throw usage(
    `'${file}' contains no certificate`,
    'Name the certificate of the authority of the source (PEM).',
  )
}

function warnOfPlainHttp(url: URL): void {
  if (!isPlainHttpElsewhere(url)) return
  note(
    `warning: ${url.origin} is plain HTTP: every machine on the way can read the objects, and change them where no signature covers the answer`,
  )
}

function usage(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}
