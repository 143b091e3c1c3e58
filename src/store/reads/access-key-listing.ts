/**
 * A page of the access keys of a tenant: by their index, and the keys themselves, from one moment.
 *
 * Rule: a key is removed with its tenant, index and row in one entry; two reads at different moments would find one without the other.
 */
import assert from 'node:assert/strict'
import { tenantKeys, tenantRanges } from '../../state-machine/tenants/keys.ts'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { AccessKeyRecord } from '../../state-machine/tenants/records.ts'
import { atOneMoment } from './one-moment.ts'
import type { Page, PageQuery, StateReader } from './state-reader.ts'

export function pageOfAccessKeys(
  reader: StateReader,
  tenant: TenantId,
  query: PageQuery,
): Promise<Page<AccessKeyRecord>> {
  return atOneMoment(reader, async (cut) => {
    const { items, next } = await cut.page(tenantRanges.tenantAccessKeys(tenant), query)
    const records = items.map(({ accessKeyId }) => {
      const record = cut.get(tenantKeys.accessKey(accessKeyId))
      assert(record !== undefined, 'an access key that the index names exists')
      return record
    })
    return { items: records, next }
  })
}
