/**
 * The access key of another store: from the environment, under the names that its tools use, or from a file.
 *
 * Rules: never from the command line, which other users can read. A file with several keys is refused: a guess could be the wrong store.
 */
import { readFileSync } from 'node:fs'
import type { S3Credentials } from '../../s3-client/signed-headers.ts'
import { CommandError, EXIT } from './exit.ts'

/** Whose key it is, and which option names its file. */
interface Asked {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly option?: string
  readonly of?: string
}

/** Lines such as `AWS_ACCESS_KEY_ID=…`, `aws_access_key_id = …` of AWS tools, and what `holdfast key create` prints. */
const LINE = /^\s*(?:export\s+)?([A-Za-z_]+)\s*=\s*(.*?)\s*$/
const MEANINGS: Readonly<Record<string, keyof S3Credentials>> = {
  AWS_ACCESS_KEY_ID: 'accessKeyId',
  AWS_SECRET_ACCESS_KEY: 'secretKey',
  AWS_SESSION_TOKEN: 'sessionToken',
  HOLDFAST_ACCESS_KEY_ID: 'accessKeyId',
  HOLDFAST_SECRET_KEY: 'secretKey',
}

/** `file` undefined: from the environment. Throws CommandError. */
export function sourceCredentials(
  file: string | undefined,
  { env = process.env, option = '--source-key-file', of = 'the source' }: Asked = {},
): S3Credentials {
  if (file !== undefined) return fromText(readFileSync(file, 'utf8'), file)
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretKey, AWS_SESSION_TOKEN: token } = env
  if (accessKeyId && secretKey) return { accessKeyId, secretKey, sessionToken: token || null }
  throw usage(
    `No access key of ${of} is configured`,
    `Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a file that contains both with ${option}.`,
  )
}

function fromText(text: string, file: string): S3Credentials {
  const found = new Map<keyof S3Credentials, string>()
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = LINE.exec(line) ?? []
    const meaning = MEANINGS[name.toUpperCase()]
    if (meaning === undefined) continue
    if (found.has(meaning))
      throw usage(
        `'${file}' contains more than one access key`,
        'Write the one to use into a file of its own.',
      )
    found.set(meaning, value.replace(/^(["'])(.*)\1$/, '$2'))
  }
  const [accessKeyId, secretKey] = [found.get('accessKeyId'), found.get('secretKey')]
  if (accessKeyId && secretKey)
    return { accessKeyId, secretKey, sessionToken: found.get('sessionToken') ?? null }
  throw usage(
    `'${file}' contains no access key`,
    'Write the lines AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=… into it.',
  )
}

function usage(message: string, hint: string): CommandError {
  return new CommandError(message, { code: 'invalid_argument', hint, exitCode: EXIT.usage })
}
