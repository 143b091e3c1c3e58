/**
 * The contract of second approvals, which the setting `security.second_approval` asks for.
 */
export const approvalRows = {
  'admin.approvals.delete':
    'the delete of a tenant: 412 with the blocker approval_required until another owner approves it, then once [decisions 11]',
  'admin.approvals.dry-run': 'a dry run shows the blocker and asks for nothing [admin: States]',
  'admin.approvals.blockers': 'what is blocked otherwise is not asked for [decisions 11]',
  'admin.approvals.reject':
    'an owner rejects it, who asked takes it back; a reason is required [decisions 10]',
  'admin.approvals.end': 'after 24 hours it is gone, approved or not: 404 [decisions 10]',
  'admin.approvals.revoked': 'an approval ends with the token that gave it [admin: Authentication 3]',
  'admin.approvals.level': 'below level 4 the change is refused: 412 version_incompatible [decisions 10]',
  'admin.approvals.audited':
    'asking, approving and the change with its approval each have a row [admin: What the service does 4]',
  'admin.approvals.scope':
    'a token of one tenant approves what is about that tenant; of others 403, never 404 [admin: Authentication 4]',
  'admin.approvals.policies': 'lower_locks: a policy that denies less than before [decisions 14]',
  'admin.approvals.holds': 'lower_locks: a legal hold that comes off a version [native: per-object WORM]',
  'admin.approvals.bypass': 'lower_locks: retention in mode GOVERNANCE that is set aside [decisions 14]',
  'admin.approvals.time': 'lower_locks: time that is confirmed, by which retention ends [decisions 17]',
} as const
