/** The error text of a node that ends because the operating system refused an operation. */
import t from 'tap'
import { EXIT, reportError } from '../../src/cli/base/exit.ts'

async function reported(t: Tap, error: unknown): Promise<string> {
  const written = t.capture(process.stderr, 'write')
  const code = await reportError(error, false)
  t.equal(code, EXIT.failed)
  return written()
    .map(({ args }) => String(args[0]))
    .join('')
}

type Tap = Pick<typeof t, 'capture' | 'equal'>

t.test('reportError', async (t) => {
  await t.test('does not call a full disk a bug, and names the root cause at any depth', async (t) => {
    const level = Object.assign(new Error('IO error: 000006.log: No space left on device'), {
      code: 'LEVEL_IO_ERROR',
    })
    const state = new Error('Cannot write the state: the disk is full; free space', { cause: level })
    const text = await reported(t, new Error(`Cannot apply the log: ${state.message}`, { cause: state }))
    t.equal(
      text,
      'error: Cannot apply the log: Cannot write the state: the disk is full; free space\n  because: IO error: 000006.log: No space left on device\n',
    )
  })

  await t.test('calls everything else a bug, with its stack', async (t) => {
    const text = await reported(t, new TypeError('undefined is not a function'))
    t.match(text, /^error: TypeError: undefined is not a function\n +at /)
    t.match(text, /This is a bug in holdfast/)
  })
})
