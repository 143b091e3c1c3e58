/** What needs the approval of a second owner: nothing by default, and no word that is not known. */
import t from 'tap'
import { examined, reportedFaults, SMALLEST } from './written-config.ts'

t.test('security.second_approval', async (t) => {
  const given = (text: string) =>
    examined(t, SMALLEST.replace('master_key_file: key', `master_key_file: key, second_approval: ${text}`))
  t.same(examined(t, SMALLEST).config?.security.secondApproval, [])
  const values = [
    ['none', []],
    ['delete_tenant', ['delete_tenant']],
    ['lower_locks', ['lower_locks']],
    ["'delete_tenant,lower_locks'", ['delete_tenant', 'lower_locks']],
  ] as const
  for (const [text, kinds] of values) t.same(given(text).config?.security.secondApproval, kinds, text)
  for (const text of ['delete_tenants', "'lower_locks,none'", 'true', "''"])
    t.match(reportedFaults(given(text)), [/security\.second_approval/], text)
})
