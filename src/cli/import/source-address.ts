/**
 * Addresses of another S3 store as they are typed: `s3://bucket/prefix`, and its endpoint.
 *
 * Owns: the spelling; pure. Knows nothing of: requests.
 */
import { CommandError, EXIT } from '../base/exit.ts'

export interface SourcePath {
  /** Null: `s3://`, the whole store. */
  readonly bucket: string | null
  /** Empty, or a folder with a slash at its end, so that `photos` does not include `photos-old/1`. */
  readonly prefix: string
}

/** Throws CommandError. */
export function sourcePath(text: string): SourcePath {
  const [, bucket, rest = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(text) ?? []
  if (bucket === undefined || (bucket === '' && rest !== ''))
    throw usage(
      `'${text}' does not name a bucket of another store`,
      'Write s3://bucket or s3://bucket/prefix.',
    )
  if (bucket === '') return { bucket: null, prefix: '' }
  return { bucket, prefix: rest === '' || rest.endsWith('/') ? rest : `${rest}/` }
}

/** Throws CommandError. */
export function sourceEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain = url !== null && url.username === '' && url.search === '' && url.hash === ''
  if (isPlain && /^https?:$/.test(url.protocol)) return url
  throw usage(
    `'${text}' is not the address of a store`,
    'Write it like https://s3.example.net or http://127.0.0.1:9000, without a bucket.',
  )
}

function usage(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}
