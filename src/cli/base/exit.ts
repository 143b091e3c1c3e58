/**
 * How a command ends, and how an error is printed for a person or a program. [decisions 15]
 *
 * Owns: the exit codes and the shape of an error on standard error. Rule: error classes of cluster/ are imported only after a failure;
 * otherwise every command would load all of cluster/ first.
 */
import { Refusal } from '../../base/refusal.ts'

export const EXIT = { done: 0, failed: 1, usage: 2, refused: 3, unreachable: 4 } as const

interface CommandErrorOptions {
  readonly code: string
  /** Sentences. */
  readonly hint: string
  /** Continues the message, after a semicolon. */
  readonly advice?: string
  readonly requestId?: string | null
  readonly exitCode?: number
  readonly cause?: unknown
}

/** A failure that the caller of the command can correct; `hint` says how. */
export class CommandError extends Error {
  readonly exitCode: number
  readonly code: string
  readonly hint: string
  readonly advice: string
  /** The request id of the refusal. */
  readonly requestId: string | null
  constructor(message: string, options: CommandErrorOptions) {
    super(message, { cause: options.cause })
    this.name = 'CommandError'
    this.code = options.code
    this.hint = options.hint
    this.advice = options.advice ?? ''
    this.requestId = options.requestId ?? null
    this.exitCode = options.exitCode ?? EXIT.failed
  }
}

interface ErrorText {
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly advice?: string
  readonly requestId?: string | null
  readonly exitCode: number
}

async function describe(error: unknown): Promise<ErrorText> {
  if (error instanceof CommandError) return error
  if (error instanceof Refusal)
    return { code: error.code, message: error.message, hint: '', exitCode: EXIT.refused }
  const { Condition, StartError } = await import('../../../cluster/index.ts')
  if (error instanceof StartError)
    return { code: error.code, message: error.message, hint: error.hint, exitCode: EXIT.failed }
  if (error instanceof Condition)
    return { code: error.code, message: error.message, hint: 'Try again.', exitCode: EXIT.unreachable }
  if (isOfFiles(error))
    return { code: 'file_failed', message: error.message, hint: '', exitCode: EXIT.failed }
  if (error instanceof Error && chainOf(error).some(isFromTheSystem))
    return { code: 'refused_by_system', message: error.message, hint: '', exitCode: EXIT.failed }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return {
    code: 'internal_error',
    message,
    hint: 'This is a bug in holdfast. Report it with the text above.',
    exitCode: EXIT.failed,
  }
}

/** A missing file or permission: the message names the file. */
function isOfFiles(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'path' in error
}

/** ENOSPC and other errors of the operating system, also when LevelDB wraps them. They are not bugs. */
function isFromTheSystem(error: Error): boolean {
  return 'code' in error && /^(E[A-Z]+|LEVEL_IO_ERROR)$/.test(String(error.code))
}

/** Empty if the message already contains it. */
function rootCause(error: unknown, message: string): string {
  const root = chainOf(error).at(-1)
  return root === undefined || message.includes(root.message) ? '' : `\n  because: ${root.message}`
}

function chainOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...chainOf(error.cause)] : []
}

/** Resolves with the exit code. */
export async function reportError(error: unknown, json: boolean): Promise<number> {
  const { code, message, hint, advice = '', exitCode, requestId } = await describe(error)
  const named = requestId === undefined || requestId === null ? {} : { requestId }
  if (json) {
    const hints = [...(advice === '' ? [] : [sentence(advice)]), ...(hint === '' ? [] : [hint])]
    process.stderr.write(
      `${JSON.stringify({ error: { code, message, hint: hints.join('\n  '), ...named } })}\n`,
    )
  } else {
    const said = `${message}${advice === '' ? '' : `; ${advice}`}${rootCause(error, message)}`
    process.stderr.write(`error: ${said}${hint ? `\n  ${hint}` : ''}\n`)
  }
  return exitCode
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
