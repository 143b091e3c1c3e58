/**
 * A page of the access keys of a tenant: by their index, and the keys themselves, from one moment.
 *
 * Rule: keys go with their tenant, index and key in one entry; two looks at different moments would find one without the other.
 */
import assert from 'node:assert/strict'
import { tenantKeys, tenantRanges } from '../../state-machine/tenants/keys.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import { cutView } from '../rows/cut-view.ts'
import type { OpenState } from '../rows/open-state.ts'
import { readPage } from './row-page.ts'
import type { Page } from './state-reader.ts'

export async function listAccessKeys(
  state: OpenState,
  tenant: TenantId,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<Page<AccessKeyRecord>> {
  const snapshot = state.db.snapshot()
  try {
    const view = cutView(state.db, snapshot)
    const all = tenantRanges.tenantAccessKeys(tenant)
    const { items, next } = await readPage(state, { all, after, limit, snapshot })
    const records = items.map(({ accessKeyId }) => {
      const record = view.get(tenantKeys.accessKey(accessKeyId))
      assert(record !== undefined, 'an access key that the index names exists')
      return record
    })
    return { items: records, next }
  } finally {
    await snapshot.close()
  }
}
