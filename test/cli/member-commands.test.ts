/** `holdfast cluster join` and `replace` against an API that records requests: the node that is shown is the node that joins. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { type Printed, runCommand } from '../helpers/run-command.ts'

const FINGERPRINT = Array.from({ length: 32 }, () => 'AB').join(':')

interface Answer {
  readonly status: number
  readonly body: object
}

interface Recorded {
  readonly url: string
  readonly body: Readonly<Record<string, unknown>>
}

const plan = (fingerprint: string | null): Answer => ({
  status: 200,
  body: {
    dryRun: true,
    operation: 'joinVoter',
    tenantId: null,
    allowed: true,
    plan: {
      steps: [{ step: 'now', voters: ['n1'], majority: 1, failureTolerance: 0 }],
      copiesToMove: 0,
      bytesToMove: 0,
      isComplete: true,
      newcomer: {
        nodeId: 'n4',
        incarnation: 'life',
        peerAddress: '10.0.0.4:9002',
        version: '1.0.0',
        fingerprint,
      },
    },
    blockers: [],
    warnings: [],
  },
})
const NOOP: Answer = { status: 200, body: { noop: true, nodeId: 'n4', configIndex: 7 } }
const GATE: Answer = {
  status: 412,
  body: {
    code: 'precondition_failed',
    message: 'no',
    blockers: [{ code: 'certificate_mismatch', message: 'n4 shows another one' }],
  },
}

/** An admin API that returns these answers in this order. */
async function api(t: Test, ...answers: readonly Answer[]) {
  const requests: Recorded[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece) => (text += String(piece)))
    request.on('end', () => {
      const { status, body } = answers[requests.length] ?? { status: 500, body: {} }
      requests.push({ url: request.url ?? '', body: JSON.parse(text) as Recorded['body'] })
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  process.env['HOLDFAST_ADMIN_TOKEN'] = 'svcadm_test'
  t.teardown(() => delete process.env['HOLDFAST_ADMIN_TOKEN'])
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const run = (...argv: readonly string[]): Promise<Printed> =>
    runCommand('cluster', ...argv, '--admin-endpoint', endpoint, '--reason', 'tests')
  return { requests, run, endpoint }
}

const JOIN = ['join', 'n4', '--peer', '10.0.0.4:9002']
const REPLACE = ['replace', 'n3', '--with', 'n4', '--peer', '10.0.0.4:9002', '--confirm', 'n3']

t.test(
  'the request names the certificate of the node that was shown [membership.join.fingerprint]',
  async (t) => {
    for (const argv of [JOIN, REPLACE]) {
      const { requests, run } = await api(t, plan(FINGERPRINT), NOOP)
      const { code, out, err } = await run(...argv)
      t.match({ code, out }, { code: 0, out: '' })
      t.match(err, `Its certificate: ${FINGERPRINT} (compare it with what the node itself printed)`)
      t.match(requests, [{ url: /\?dryRun=true$/ }, { url: /[^?]$/ }])
      const [dryRun = {}, change = {}] = requests.map(({ body }) => body['replacement'] ?? body)
      t.notMatch(dryRun, { fingerprint: String })
      t.match(change, { nodeId: 'n4', fingerprint: FINGERPRINT })
    }
  },
)

t.test('the fingerprint that an operator gives takes precedence, and a blocker ends with 3', async (t) => {
  const expected = FINGERPRINT.replace('AB', 'AC')
  const { requests, run } = await api(t, GATE)
  const { code, err } = await run(...JOIN, '--fingerprint', expected)
  t.equal(code, 3)
  t.match(err, /error: .*no \(412 precondition_failed\)\n/)
  t.match(requests, [{ url: /dryRun=true/, body: { fingerprint: expected } }])
  const second = await api(t, plan(FINGERPRINT), NOOP)
  t.match((await second.run(...JOIN, '--fingerprint', FINGERPRINT)).err, '(as expected)')
})

t.test('--json prints only the answer, and a node without TLS joins without a fingerprint', async (t) => {
  const { requests, run } = await api(t, plan(null), NOOP)
  const { out, err } = await run(...JOIN, '--json')
  t.same(JSON.parse(out), NOOP.body)
  t.equal(err, '')
  t.notOk('fingerprint' in (requests[1]?.body ?? {}))
  const dry = await api(t, plan(null))
  t.same(JSON.parse((await dry.run(...JOIN, '--dry-run', '--json')).out), plan(null).body)
  t.equal(dry.requests.length, 1)
})

t.test('a demotion is confirmed before anything is sent [membership.demote.confirm]', async (t) => {
  const { requests, run } = await api(t, { status: 202, body: { operationId: 'op_1', type: 'demote' } })
  const silent = await run('demote', 'n3')
  t.match(silent, { code: 2, err: /'n3' is not demoted: a demotion cannot be undone/ })
  t.match(silent.err, '--confirm n3')
  t.match(await run('demote', 'n3', '--confirm', 'n2'), { code: 2, err: /the member is 'n3'/ })
  t.same(requests, [], 'nothing was sent')
  const { requireConfirmed } = await import('../../src/cli/admin/confirming.ts')
  const typing = (line: string) => {
    const input = Object.assign(new PassThrough(), { isTTY: true })
    const output = Object.assign(new PassThrough(), { isTTY: true })
    input.end(`${line}\n`)
    return { terminal: { input, output }, printed: () => String(output.read()) }
  }
  const right = typing('n3')
  await requireConfirmed('n3', {}, right.terminal)
  t.match(right.printed(), 'n3 cannot get its vote back. Type its name to demote it: ')
  await t.rejects(requireConfirmed('n3', {}, typing('yes').terminal), { code: 'confirm_mismatch' })
  await requireConfirmed('n3', { dryRun: true })
})

t.test('a refusal without a dry run names the gate as the dry run does', async (t) => {
  const { run, endpoint } = await api(t, GATE, GATE)
  const blocked = { code: 3, err: /\n {2}blocked by certificate_mismatch: n4 shows another one\n/ }
  t.match(await run('lost', 'n3', '--confirm', 'n3'), blocked)
  const gone = ['tenant', 'delete', 'acme', '--confirm', 'acme', '--reason', 'tests']
  t.match(await runCommand(...gone, '--admin-endpoint', endpoint), blocked)
})
