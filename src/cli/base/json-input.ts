/**
 * JSON that a command sends, from a file or standard input.
 *
 * Owns: reading it, up to JSON_BYTES_MAX. Knows nothing of: its members, which the service validates.
 */
import { createReadStream } from 'node:fs'
import { CommandError, EXIT } from './exit.ts'

/** The service takes no larger JSON body. */
const JSON_BYTES_MAX = 1024 * 1024

/** `what` names the content in an error, `example` what to write. Throws CommandError. */
export async function jsonInput(file: string, what: string, example: string): Promise<unknown> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of file === '-' ? process.stdin : createReadStream(file)) {
    bytes += (piece as Buffer).length
    if (bytes > JSON_BYTES_MAX) throw unusable(file, what, `has more than ${JSON_BYTES_MAX} bytes`, example)
    pieces.push(piece as Buffer)
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString())
  } catch (cause) {
    throw unusable(file, what, `is not JSON: ${(cause as Error).message}`, example)
  }
}

/** The list below this member, or the value itself if it is a list. Throws CommandError. */
export function listIn(
  value: unknown,
  member: string,
  from: { file: string; what: string; example: string },
) {
  const inner: unknown =
    typeof value === 'object' && value !== null && member in value
      ? (value as Readonly<Record<string, unknown>>)[member]
      : value
  if (Array.isArray(inner)) return inner as readonly unknown[]
  throw unusable(from.file, from.what, `has no list '${member}'`, from.example)
}

function unusable(file: string, what: string, why: string, example: string): CommandError {
  const named = file === '-' ? 'Standard input' : `'${file}'`
  return new CommandError(`${named} contains no ${what}: it ${why}`, {
    code: 'invalid_argument',
    hint: `Write ${example}`,
    exitCode: EXIT.usage,
  })
}
