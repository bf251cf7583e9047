type Members = Readonly<Record<string, unknown>>;

/** A level of the Pod Security Standards of Kubernetes. */
export type PodSecurityLevel = 'restricted' | 'baseline' | 'privileged';

/** Capabilities that `baseline` lets a container add. */
const BASELINE_CAPABILITIES = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'SETFCAP'],
  ...['SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
];
const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'];
const CONFINED = ['RuntimeDefault', 'Localhost'];
const MEMBERS = [
  ...['allowPrivilegeEscalation', 'appArmorProfile', 'capabilities', 'privileged', 'procMount'],
  ...['readOnlyRootFilesystem', 'runAsGroup', 'runAsNonRoot', 'runAsUser', 'seLinuxOptions', 'seccompProfile'],
];

/** Returns what a container of a level gets where its own security context says nothing else. */
export function securityContextFor(level: PodSecurityLevel, own: unknown): Members | undefined {
  const given = isTold(own) ? (own as Members) : undefined;
  if (level !== 'restricted') return given;
  const { add } = membersOf(given?.capabilities);
  // Kubernetes takes null for absent, and would use its own default.
  const told = Object.entries(given ?? {}).filter(([, value]) => isTold(value));
  return {
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
    ...Object.fromEntries(told),
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'], ...(add !== undefined && { add }) },
  };
}

/**
 * Yields a sentence about each member of a container's security context that a level forbids. It begins with the name
 * of the member.
 */
export function* securityProblems(level: PodSecurityLevel, context: unknown): Generator<string> {
  if (!isTold(context) || level === 'privileged') return;
  const given = membersOf(context);
  for (const member of Object.keys(given)) {
    if (!MEMBERS.includes(member)) yield `${member} is not allowed.`;
  }
  const { privileged, procMount, seccompProfile, appArmorProfile, seLinuxOptions, capabilities } = given;
  if (isTold(privileged) && privileged !== false) yield 'privileged must be false.';
  if (isTold(procMount) && procMount !== 'Default') yield 'procMount must be Default.';
  for (const [member, profile] of Object.entries({ seccompProfile, appArmorProfile })) {
    const { type } = membersOf(profile);
    if (isTold(profile) && !CONFINED.includes(String(type))) yield `${member}.type must be ${CONFINED.join(' or ')}.`;
  }
  const { type = '', user = '', role = '' } = membersOf(seLinuxOptions);
  if (!SELINUX_TYPES.includes(String(type))) yield `seLinuxOptions.type must be ${SELINUX_TYPES.slice(1).join(', ')}.`;
  if (user !== '' || role !== '') yield 'seLinuxOptions.user and role must be empty.';
  yield* capabilityProblems(level, capabilities);
  if (level === 'restricted') yield* restrictedProblems(given);
}

function* capabilityProblems(level: PodSecurityLevel, capabilities: unknown): Generator<string> {
  const { add, drop, ...others } = membersOf(capabilities);
  for (const member of Object.keys(others)) yield `capabilities.${member} is not allowed.`;
  for (const [member, list] of Object.entries({ add, drop })) {
    if (isTold(list) && !Array.isArray(list)) yield `capabilities.${member} must be a list.`;
  }
  const allowed = level === 'restricted' ? ['NET_BIND_SERVICE'] : BASELINE_CAPABILITIES;
  const more = Array.isArray(add) ? add.filter((one) => !allowed.includes(String(one))) : [];
  if (more.length > 0) yield `capabilities.add must be of ${allowed.join(', ')}.`;
}

function* restrictedProblems({ allowPrivilegeEscalation, runAsNonRoot, runAsUser }: Members): Generator<string> {
  if (isTold(allowPrivilegeEscalation) && allowPrivilegeEscalation !== false) {
    yield 'allowPrivilegeEscalation must be false.';
  }
  if (isTold(runAsNonRoot) && runAsNonRoot !== true) yield 'runAsNonRoot must be true.';
  if (runAsUser === 0) yield 'runAsUser must not be 0.';
}

/** Returns true for a member that is there: Kubernetes takes null for absent. */
export function isTold(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}
