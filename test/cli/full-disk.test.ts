/** What a node that ends says of the machine that refused it. */
import t from 'tap'
import { EXIT, reportError } from '../../src/cli/base/exit.ts'

async function told(t: Tap, error: unknown): Promise<string> {
  const written = t.capture(process.stderr, 'write')
  const code = await reportError(error, false)
  t.equal(code, EXIT.failed)
  return written()
    .map(({ args }) => String(args[0]))
    .join('')
}

type Tap = Pick<typeof t, 'capture' | 'equal'>

t.test('reportError', async (t) => {
  await t.test('calls a full disk no bug, and names what refused, however deep it lies', async (t) => {
    const level = Object.assign(new Error('IO error: 000006.log: No space left on device'), {
      code: 'LEVEL_IO_ERROR',
    })
    const state = new Error('Cannot write the state: the disk is full; free space', { cause: level })
    const text = await told(t, new Error(`Cannot apply the log: ${state.message}`, { cause: state }))
    t.equal(
      text,
      'error: Cannot apply the log: Cannot write the state: the disk is full; free space\n  because: IO error: 000006.log: No space left on device\n',
    )
  })

  await t.test('calls everything else a bug, with its stack', async (t) => {
    const text = await told(t, new TypeError('undefined is not a function'))
    t.match(text, /^error: TypeError: undefined is not a function\n +at /)
    t.match(text, /This is a bug in holdfast/)
  })
})
