/** `holdfast approvals` against an admin listener: one owner asks, another one answers. */
import t from 'tap'
import { CommandLine } from '../helpers/command-line.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'
import { ApiWorld } from '../api/api-world.ts'

t.test('holdfast approvals', { timeout: 1_800_000 }, async (t) => {
  const world = await ApiWorld.start(t, { security: { secondApproval: ['delete_tenant'] } })
  await world.memory.tenant('acme')
  await world.memory.change({ type: 'disableTenant', tenantId: 'acme', reason: 'unpaid' })
  const byToken = async () =>
    new CommandLine({
      cwd: temporaryFolder(t),
      env: {
        HOLDFAST_ADMIN_ENDPOINT: `http://127.0.0.1:${world.adminPort}`,
        HOLDFAST_ADMIN_TOKEN: await world.memory.adminToken('owner'),
      },
    })
  const requester = await byToken()
  const other = await byToken()
  const deletion = ['tenant', 'delete', 'acme', '--confirm', 'acme', '--reason', 'unpaid']

  const refused = await requester.run(deletion)
  t.equal(refused.status, 3)
  const [, id = ''] = /holdfast approvals approve (apr_[0-9a-f]{24})/.exec(refused.stderr) ?? []
  t.match(await other.json(['approvals', 'list']), [{ approvalId: id, status: 'waiting' }])
  t.match(
    (await other.run(['approvals', 'list'])).stdout,
    new RegExp(`^${id} +waiting +deleteTenant +acme +asked by adm_\\w+ +until `),
  )
  t.match((await other.run(['approvals', 'show', id])).stdout, /^change +\{.*"reason":"unpaid"\}$/m)
  const approval = ['approvals', 'approve', id, '--reason', 'agreed']
  t.match(await requester.run(approval), { status: 1, stderr: /another one has to approve it/ })
  t.match(await other.run([...approval, '--dry-run']), { status: 0, stdout: /would be done/ })
  t.match(await other.run(approval), {
    status: 0,
    stderr: new RegExp(`${id} is approved; adm_\\w+ can make`),
  })
  t.match(await other.run(['approvals', 'reject', id, '--reason', 'no']), {
    status: 0,
    stderr: /is rejected/,
  })
  t.match(await requester.run(deletion), { status: 3 })
  t.match(await other.json(approval), [{ approvalId: id, status: 'approved' }])
  t.match(await requester.json(deletion), [{ type: 'tenantDeletion' }])
  t.match(await other.run(['approvals', 'list']), { status: 0, stdout: '' })
})
