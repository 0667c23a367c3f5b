#!/usr/bin/env bash
# A run on Slurm: starts Ray on all nodes of the job, for its duration.
#
#     sbatch docs/cluster/slurm.sh /shared/RUN --games 100000 --seed 1
#
# It stops in order before the time limit; the same command resumes.
#SBATCH --job-name=selfplay
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --time=48:00:00

set -euo pipefail

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${nodes[0]}
address=$(srun --nodes=1 --ntasks=1 --nodelist="$head" hostname --ip-address | cut -d' ' -f1)
port=$((20000 + SLURM_JOB_ID % 20000))  # several jobs may share a node
export RAY_AUTH_MODE=token
export RAY_AUTH_TOKEN=${RAY_AUTH_TOKEN:-$(head -c 32 /dev/urandom | base64 | tr -d '/+=')}

srun --nodes=1 --ntasks=1 --nodelist="$head" --overlap \
    ray start --head --node-ip-address="$address" --port="$port" \
    --num-cpus="$((SLURM_CPUS_PER_TASK - 1))" --include-dashboard=false --block &
sleep 15
if ((${#nodes[@]} > 1)); then
    srun --nodes=$((${#nodes[@]} - 1)) --ntasks=$((${#nodes[@]} - 1)) --exclude="$head" --overlap \
        ray start --address="$address:$port" --num-cpus="$SLURM_CPUS_PER_TASK" --block &
    sleep 15
fi

selfplay generate "$@" --address "$address:$port" --max-time 47h
