# shellcheck shell=bash
# The configuration of the throw-away Slurm, all of it in $D/etc.  Sourced by cluster.sh.
#
# Partitions: debug (default), gpu, closed (DOWN), small (one small node).  Variants through the environment:
#   SLURM_TEST_ENFORCE=NO|ANY|ALL  EnforcePartLimits (NO is Slurm's default: bad jobs are accepted and pend for ever)
#   SLURM_TEST_MIN_JOB_AGE=SECONDS how long squeue and scontrol still know a finished job (300 is Slurm's default)
#   SLURM_TEST_MESSAGE_TIMEOUT=SECONDS  how long a command waits for a controller that does not answer (10)

CPU_NODES=(cpu01 cpu02 cpu03 cpu04)
GPU_NODES=(gpu01 gpu02)
SMALL_NODES=(small01)
NODES=("${CPU_NODES[@]}" "${GPU_NODES[@]}" "${SMALL_NODES[@]}")

port_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Sets PORT, the first of sixteen: +0 slurmctld, +1 slurmdbd, +2 MariaDB, +4 and up one for each slurmd.
choose_port() {
  local base offset
  for base in $(seq 26800 16 28000); do
    for offset in $(seq 0 15); do
      port_free $((base + offset)) || continue 2
    done
    PORT=$base
    return
  done
  echo "cluster.sh: no sixteen free ports between 26800 and 28000 on 127.0.0.1" >&2
  return 1
}

# Sets ADDRESS and BIND.  NoInAddrAny makes daemons listen where the host's name resolves to: right only on loopback.
choose_address() {
  ADDRESS=$(getent ahostsv4 "$(hostname)" | awk 'NR == 1 {print $1}') || true
  BIND=NoInAddrAny,NoCtldInAddrAny
  [[ "$ADDRESS" == 127.* ]] || { ADDRESS=127.0.0.1 BIND=; }
}

slurm_major_minor() { slurmctld -V | awk '{split($2, v, "."); printf "%d%02d\n", v[1], v[2]}'; }

# Tokens beside munge (scontrol token), as slurmrestd takes them over HTTP; the plugin is a package of its own.
jwt_conf() {
  compgen -G '/usr/lib/*/slurm-wlm/auth_jwt.so' >/dev/null || compgen -G '/usr/lib*/slurm/auth_jwt.so' >/dev/null || return 0
  echo "AuthAltTypes=auth/jwt"
  echo "AuthAltParameters=jwt_key=$D/jwt.key"
}

slurm_conf() {
  local host me
  host=$(hostname -s) me=$(id -un)
  cat <<C
ClusterName=dragoman
SlurmctldHost=$host($ADDRESS)
SlurmctldPort=$PORT
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$D/run/munge.socket
CredType=cred/munge
$(jwt_conf)
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool/%n
SlurmctldPidFile=$D/run/slurmctld.pid
SlurmdPidFile=$D/run/slurmd.%n.pid
SlurmctldLogFile=$D/log/slurmctld.log
SlurmdLogFile=$D/log/slurmd.%n.log
MailProg=/bin/true
${BIND:+CommunicationParameters=$BIND}
MessageTimeout=${SLURM_TEST_MESSAGE_TIMEOUT:-10}
# no cgroups, and no real hardware behind the sizes of the nodes
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
# without cgroups this is what notices a job that holds more than its memory
JobAcctGatherParams=OverMemoryKill
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,bf_window=2880,default_queue_depth=200
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
PriorityType=priority/multifactor
EnforcePartLimits=${SLURM_TEST_ENFORCE:-NO}
MinJobAge=${SLURM_TEST_MIN_JOB_AGE:-300}
KillWait=2
MaxArraySize=1001
JobSubmitPlugins=lua
GresTypes=gpu
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((PORT + 1))
AccountingStoragePass=$D/run/munge.socket
# safe: a job starts only where its whole walltime is left on its account
AccountingStorageEnforce=associations,limits,qos,safe
AccountingStorageTRES=gres/gpu,gres/gpu:a100
AccountingStoreFlags=job_comment,job_script
NodeName=cpu[01-04] NodeHostname=$host NodeAddr=$ADDRESS Port=[$((PORT + 4))-$((PORT + 7))] CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=16000 Feature=skylake,ib State=UNKNOWN
NodeName=gpu[01-02] NodeHostname=$host NodeAddr=$ADDRESS Port=[$((PORT + 8))-$((PORT + 9))] CPUs=32 Boards=1 SocketsPerBoard=2 CoresPerSocket=16 ThreadsPerCore=1 RealMemory=256000 Gres=gpu:a100:4 Feature=a100,nvlink State=UNKNOWN
NodeName=small01 NodeHostname=$host NodeAddr=$ADDRESS Port=$((PORT + 10)) CPUs=2 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=2000 State=UNKNOWN
PartitionName=debug Nodes=cpu[01-04] Default=YES DefaultTime=00:10:00 MaxTime=01:00:00 DefMemPerCPU=1000 State=UP
PartitionName=gpu Nodes=gpu[01-02] DefaultTime=01:00:00 MaxTime=2-00:00:00 DefMemPerCPU=4000 State=UP
PartitionName=closed Nodes=cpu[01-04] DefaultTime=00:10:00 MaxTime=1-00:00:00 State=DOWN
PartitionName=small Nodes=small01 DefaultTime=00:02:00 MaxTime=00:05:00 MaxNodes=1 DefMemPerCPU=500 State=UP
C
}

slurmdbd_conf() {
  cat <<C
AuthType=auth/munge
AuthInfo=socket=$D/run/munge.socket
$(jwt_conf)
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((PORT + 1))
SlurmUser=$(id -un)
PidFile=$D/run/slurmdbd.pid
LogFile=$D/log/slurmdbd.log
StorageType=accounting_storage/mysql
# a number, not "localhost": for that name the client library goes to the system's own socket
StorageHost=127.0.0.1
StoragePort=$((PORT + 2))
StorageUser=slurm
StoragePass=$(cat "$D/mysql.password")
StorageLoc=slurm_acct_db
C
}

# Runs inside slurmctld at each submission; faults.sh writes the words it looks for.
job_submit_lua() {
  cat <<C
local function asked(word)
  local file = io.open("$D/run/submit-filter")
  if file == nil then return false end
  local words = file:read("*a")
  file:close()
  return string.find(words, word, 1, true) ~= nil
end

function slurm_job_submit(job, partitions, uid)
  if asked("notice") then slurm.log_user("Maintenance on Thursday | your project has 12 % left") end
  if asked("strip-tags") then
    job.comment = ""
    job.name = "stripped"
  end
  if asked("refuse") then
    slurm.log_user("Jobs of this project are refused by the site's submit filter")
    return slurm.ERROR
  end
  return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
  return slurm.SUCCESS
end

return slurm.SUCCESS
C
}

write_config() {
  local plugin=cgroup/v1 # loaded, never used
  [ "$(slurm_major_minor)" -lt 2405 ] || plugin=disabled
  slurm_conf >"$D/etc/slurm.conf"
  job_submit_lua >"$D/etc/job_submit.lua"
  echo "NodeName=gpu[01-02] Name=gpu Type=a100 File=$D/gpu/dev[0-3]" >"$D/etc/gres.conf"
  echo "CgroupPlugin=$plugin" >"$D/etc/cgroup.conf"
  (umask 077 && slurmdbd_conf >"$D/etc/slurmdbd.conf")
}
