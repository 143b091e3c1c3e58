/**
 * The member of a row that says from where its credential may be used.
 *
 * Rule: a credential that is bound to nothing has no such member, as in rows from before there were bindings.
 */
import type { CallerBinding } from './records.ts'

export function boundMember(boundTo: CallerBinding | undefined): { readonly boundTo?: CallerBinding } {
  if (boundTo === undefined || boundTo.addresses.length + boundTo.certificates.length === 0) return {}
  return { boundTo: { addresses: boundTo.addresses, certificates: boundTo.certificates } }
}
