/**
 * What a log line contains, and what it never contains.
 */
import t from 'tap'
import { createLogger, SECRET_FIELDS } from '../../src/telemetry/logger.ts'

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
