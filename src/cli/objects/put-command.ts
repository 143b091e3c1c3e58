/**
 * `holdfast put`: a file, or standard input, into an object.
 */
import { basename } from 'node:path'
import { askData } from '../base/asking.ts'
import type { DataAccessOptions } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { interruption, orInterrupted } from '../base/interruption.ts'
import { note, printable, printJson, sizeText, versionText } from '../base/printing.ts'
import { progressOn } from '../base/progress.ts'
import { contentTypeOf } from './content-type.ts'
import { TIME_NAME, timeText } from './file-time.ts'
import { openFile, standardInput } from './local-files.ts'
import { partBytesFor } from './part-size.ts'
import { type RemotePath, remotePath } from './remote-path.ts'
import { type Representation, upload } from './upload.ts'

export interface PutOptions extends DataAccessOptions, Representation {
  readonly contentType?: string
  readonly meta?: Readonly<Record<string, string>>
  readonly ifMatch?: string
  readonly ifNoneMatch?: string
  readonly partSize?: number
  readonly parallel: number
  readonly resume?: boolean
  /** The time of the file is kept. */
  readonly times: boolean
  readonly progress: boolean
  readonly json?: boolean
}

export async function putObject(file: string, target: string, options: PutOptions): Promise<number> {
  const { bucket, key } = named(file, target)
  const source = file === '-' ? standardInput(interruption()) : await openFile(file, interruption())
  const progress = progressOn(process.stderr, key, options.progress)
  const hint =
    'The uploaded parts of a large file are kept for seven days: the same command with --resume continues the upload.'
  try {
    progress.expect(source.size)
    const stored = await askData(options, (client) =>
      orInterrupted(hint, (signal) => {
        const { parallel, resume = false, contentType = contentTypeOf(key) } = options
        const requested = {
          bucket,
          key,
          contentType,
          metadata: metadataOf(options, source.modifiedNs),
          representation: representationOf(options),
          conditions: conditionsOf(options),
          parallel,
        }
        const partBytes = options.partSize ?? partBytesFor(source.size)
        const more = { partBytes, resumes: resume, signal, onBytes: progress.advance }
        return upload(client, { ...requested, ...more }, source)
      }),
    )
    progress.end()
    if (options.json) printJson(stored)
    else note(`${printable(`${bucket}/${key}`)}  ${sizeText(stored.size)}  ${versionText(stored)}stored`)
    return EXIT.done
  } catch (cause) {
    progress.end()
    throw cause
  } finally {
    await source.close()
  }
}

/** In a bucket, or below a prefix that ends with a slash, a file keeps its own name. */
function named(file: string, target: string): RemotePath {
  const { bucket, key } = remotePath(target)
  if (key !== '' && !key.endsWith('/')) return { bucket, key }
  if (file !== '-') return { bucket, key: key + basename(file) }
  throw new CommandError('Standard input has no name', {
    code: 'invalid_argument',
    hint: `Name the object: ${bucket}/…`,
    exitCode: EXIT.usage,
  })
}

function metadataOf({ meta = {}, times }: PutOptions, modifiedNs: bigint | null) {
  return times && modifiedNs !== null ? { [TIME_NAME]: timeText(modifiedNs), ...meta } : meta
}

function representationOf(options: PutOptions): Representation {
  const { cacheControl, contentDisposition, contentEncoding, contentLanguage, expires } = options
  return {
    ...(cacheControl === undefined ? {} : { cacheControl }),
    ...(contentDisposition === undefined ? {} : { contentDisposition }),
    ...(contentEncoding === undefined ? {} : { contentEncoding }),
    ...(contentLanguage === undefined ? {} : { contentLanguage }),
    ...(expires === undefined ? {} : { expires }),
  }
}

function conditionsOf({ ifMatch, ifNoneMatch }: PutOptions) {
  return {
    ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { 'If-None-Match': ifNoneMatch }),
  }
}
