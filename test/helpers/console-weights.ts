/**
 * Weights and zones of two members, changed in the console by one dialog: planned together, with a blocker, set, refused halfway and continued.
 */
import type { Test } from 'tap'
import type { ConsoleDriver } from './console-driver.ts'
import { isAccessible } from './console-page.ts'
import { membershipAt } from './member-steps.ts'
import type { ProcessCluster } from './process-cluster.ts'

/** The cluster has two nodes. */
export async function weightsOfTwo(t: Test, cluster: ProcessCluster, driver: ConsoleDriver): Promise<void> {
  const [one = '', other = ''] = cluster.plan.map(({ nodeId }) => nodeId)
  const places = async () =>
    (await membershipAt(cluster, one)).members.map(({ nodeId, weight, zone }) => ({
      nodeId,
      weight,
      zone,
    }))
  await driver.go('cluster/placement')
  await driver.click('Change weights')
  await driver.sees('No weight and no zone is changed.')
  t.notOk(await driver.isEnabled('Show the plan'))
  await driver.fill('Reason', 'More disks')
  await driver.fill(`Weight: ${other}`, '0')
  await driver.click('Show the plan')
  await driver.sees(/What stands in the way\s+1 members would take copies/)
  await driver.click('Back')
  await driver.fill(`Weight: ${one}`, '2')
  await driver.fill(`Weight: ${other}`, '3')
  await driver.fill(`Zone: ${one}`, 'r1')
  await driver.fill(`Zone: ${other}`, 'r2')
  await driver.click('Show the plan')
  const steps = `${other} weight 3, zone r2\\s+not set\\s+${one} weight 2, zone r1\\s+not set`
  await driver.sees(new RegExp(steps))
  await isAccessible(t, driver, 'a plan of weights')
  await driver.click('As curl')
  const both = `"nodeId":"${one}","weight":2,"zone":"r1"`
  await driver.sees(
    new RegExp(
      `POST [^\\n]*${both}[^\\n]*/placement/plan'\\ncurl [^\\n]*-X PUT [^\\n]*\\ncurl [^\\n]*-X PUT `,
    ),
  )
  await driver.does('The placement is set.')
  t.same(await places(), [
    { nodeId: one, weight: 2, zone: 'r1' },
    { nodeId: other, weight: 3, zone: 'r2' },
  ])

  // Copies in two zones are needed, so the zone is refused after the weight was set.
  await driver.click('Change weights')
  await driver.fill('Reason', 'One room')
  await driver.fill(`Weight: ${one}`, '4')
  await driver.fill(`Zone: ${other}`, 'r1')
  await driver.click('Show the plan')
  await driver.click('Do it')
  await driver.sees(new RegExp(`${one} weight 4\\s+set\\s+${other} zone r1\\s+not set`))
  await driver.sees(/This was not done\s+[^\n]*new copies would be in 1 of 2 zones/)
  await isAccessible(t, driver, 'a change of weights that failed')
  t.same(
    await places(),
    [
      { nodeId: one, weight: 4, zone: 'r1' },
      { nodeId: other, weight: 3, zone: 'r2' },
    ],
    'its zone stays set',
  )
  const moved = { weight: 4, zone: 'r3', reason: 'Room for the other' }
  const path = `/cluster/members/${one}/placement`
  t.equal((await cluster.admin(one, { method: 'PUT', path, body: moved })).status, 200)
  await driver.click('Continue with the rest')
  await driver.sees('The placement is set.')
  await driver.click('Close')
  t.same(await places(), [
    { nodeId: one, weight: 4, zone: 'r3' },
    { nodeId: other, weight: 3, zone: 'r1' },
  ])
}
