/**
 * What a log line contains, and what it never contains.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { createLogger, SECRET_FIELDS } from '../../src/telemetry/logger.ts'
import { prettyLine } from '../../src/telemetry/pretty-line.ts'

const SECRET = 'hunter2-of-the-test'

function linesOf(
  level: 'info' | 'debug',
  write: (logger: ReturnType<typeof createLogger>) => void,
): string[] {
  const lines: string[] = []
  write(createLogger({ level, nodeId: 'n1', destination: { write: (line) => void lines.push(line) } }))
  return lines
}

t.test('a secret field is redacted at the top level, and one or two levels down', async (t) => {
  for (const field of SECRET_FIELDS) {
    const lines = linesOf('info', (logger) => {
      logger.info({ [field]: SECRET }, 'top')
      logger.info({ key: { [field]: SECRET } }, 'one level down')
      logger.child({ component: 'api' }).warn({ req: { headers: { [field]: SECRET } } }, 'two levels down')
    })
    t.equal(lines.length, 3)
    for (const line of lines) {
      t.notMatch(line, SECRET, field)
      t.match(line, '"[secret]"')
    }
  }
})

t.test('a line is one JSON object with level by name, time in RFC 3339 and the node', async (t) => {
  const [line = '', ...more] = linesOf('info', (logger) => {
    logger.debug('below the level')
    logger.info({ component: 'wal' }, 'text')
  })
  t.same(more, [])
  t.match(JSON.parse(line), {
    level: 'info',
    time: /^\d{4}-\d\d-\d\dT.*Z$/,
    node: 'n1',
    component: 'wal',
    msg: 'text',
  })
})

t.test(
  'a line for people has time, level, message, fields and the stack, and passes what is no JSON',
  async (t) => {
    const [line = ''] = linesOf('info', (logger) => {
      logger.info(
        { peer: 'n2', text: 'two words', bytes: 3, none: null, err: new Error('broken') },
        'copy made',
      )
    })
    const plain = prettyLine(line, { isColoured: false })
    t.match(
      plain,
      /^\d\d:\d\d:\d\d\.\d{3} INFO  copy made peer=n2 text="two words" bytes=3 none=null\n {4}Error: broken\n {8}at /,
    )
    t.notMatch(plain, '\u001B')
    t.match(prettyLine(line, { isColoured: true }), '\u001B[32mINFO ')
    t.equal(prettyLine('no JSON\n', { isColoured: true }), 'no JSON\n')
  },
)

t.test('lines before the end of a process are written, whichever way it ends by itself', async (t) => {
  const module = JSON.stringify(new URL('../../src/telemetry/logger.ts', import.meta.url).href)
  for (const [end, code] of [
    ['process.exit(3)', 3],
    ['throw new Error("uncaught")', 1],
    ['logger.fatal({}, "last"); process.kill(process.pid, "SIGKILL")', null],
  ] as const) {
    const program = `const { createLogger } = await import(${module})
      const logger = createLogger({ level: 'info', nodeId: 'n1' })
      for (let n = 0; n < 500; n++) logger.info({ n }, 'line')
      ${end}`
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
    })
    t.equal(status, code, end)
    t.same(new Set([...stderr.matchAll(/"n":(\d+)/g)].map(([, n]) => n)).size, 500, end)
    if (code === null) t.match(stderr, '"msg":"last"')
  }
})
