"""hushtable: publish a table about people without publishing the people."""

# written by docs/generator/stub.py

from hushtable import datasets as datasets
from hushtable import errors as errors
from hushtable import registry as registry
from hushtable import testing as testing
from hushtable._version import __version__ as __version__
from hushtable.algorithms.bucket.anatomy import Anatomy as Anatomy
from hushtable.algorithms.cluster.cbfs import Cbfs as Cbfs
from hushtable.algorithms.cluster.k_first import KFirst as KFirst
from hushtable.algorithms.cluster.k_member import KMember as KMember
from hushtable.algorithms.cluster.mdav import Mdav as Mdav
from hushtable.algorithms.cluster.mst import Mst as Mst
from hushtable.algorithms.cluster.mu_approx import MuApprox as MuApprox
from hushtable.algorithms.cluster.optimal_univariate import OptimalUnivariate as OptimalUnivariate
from hushtable.algorithms.cluster.p_first import PFirst as PFirst
from hushtable.algorithms.cluster.v_mdav import VMdav as VMdav
from hushtable.algorithms.concealing.k_concealing import KConcealing as KConcealing
from hushtable.algorithms.invariant.m_invariant import MInvariant as MInvariant
from hushtable.algorithms.lattice.bottom_up_generalization import BottomUpGeneralization as BottomUpGeneralization
from hushtable.algorithms.lattice.datafly import Datafly as Datafly
from hushtable.algorithms.lattice.greedy_loss import GreedyLoss as GreedyLoss
from hushtable.algorithms.lattice.incognito import Incognito as Incognito
from hushtable.algorithms.lattice.optimal import Optimal as Optimal
from hushtable.algorithms.lattice.safe_pub import SafePub as SafePub
from hushtable.algorithms.lattice.samarati import Samarati as Samarati
from hushtable.algorithms.lattice.top_down_specialization import TopDownSpecialization as TopDownSpecialization
from hushtable.algorithms.partition.information_cuts import InformationCuts as InformationCuts
from hushtable.algorithms.partition.lattice_sweep import LatticeSweep as LatticeSweep
from hushtable.algorithms.partition.localpk import Localpk as Localpk
from hushtable.algorithms.partition.mondrian import Mondrian as Mondrian
from hushtable.algorithms.pattern.anti_unification import AntiUnification as AntiUnification
from hushtable.algorithms.pattern.local_suppression import LocalSuppression as LocalSuppression
from hushtable.anonymizer import Anonymizer as Anonymizer
from hushtable.api import anonymize as anonymize
from hushtable.api import draft_policy as draft_policy
from hushtable.api import increment as increment
from hushtable.api import open_release as open_release
from hushtable.api import profile as profile
from hushtable.api import run as run
from hushtable.api import verify as verify
from hushtable.auditing import Audit as Audit
from hushtable.auditing import alpha_k_anonymity as alpha_k_anonymity
from hushtable.auditing import audit as audit
from hushtable.auditing import basic_beta_likeness as basic_beta_likeness
from hushtable.auditing import delta_disclosure as delta_disclosure
from hushtable.auditing import enhanced_beta_likeness as enhanced_beta_likeness
from hushtable.auditing import entropy_l_diversity as entropy_l_diversity
from hushtable.auditing import k_anonymity as k_anonymity
from hushtable.auditing import l_diversity as l_diversity
from hushtable.auditing import recursive_c_l_diversity as recursive_c_l_diversity
from hushtable.auditing import t_closeness as t_closeness
from hushtable.comparison.run import compare as compare
from hushtable.engines.release import Release as Release
from hushtable.io.sql import read_sql as read_sql
from hushtable.io.sql import write_sql as write_sql
from hushtable.ledger.ledger import Ledger as Ledger
from hushtable.linked.policy import LinkedPolicy as LinkedPolicy
from hushtable.linked.policy import read_policy as read_policy
from hushtable.linked.release import LinkedRelease as LinkedRelease
from hushtable.linked.release import open_linked as open_linked
from hushtable.linked.run import anonymize_linked as anonymize_linked
from hushtable.linked.verify import verify_linked as verify_linked
from hushtable.models.a_d import AD as AD
from hushtable.models.alp_dif import AlpDif as AlpDif
from hushtable.models.alpha_beta_k import AlphaBetaK as AlphaBetaK
from hushtable.models.alpha_k import AlphaK as AlphaK
from hushtable.models.average_risk import AverageRisk as AverageRisk
from hushtable.models.bayes_optimal import BayesOptimal as BayesOptimal
from hushtable.models.beta_likeness import BetaLikeness as BetaLikeness
from hushtable.models.bt_privacy import BTPrivacy as BTPrivacy
from hushtable.models.ck_safety import CKSafety as CKSafety
from hushtable.models.delta_disclosure import DeltaDisclosure as DeltaDisclosure
from hushtable.models.delta_presence import DeltaPresence as DeltaPresence
from hushtable.models.distinct_l import DistinctL as DistinctL
from hushtable.models.dp import DifferentialPrivacy as DifferentialPrivacy
from hushtable.models.entropy_l import EntropyL as EntropyL
from hushtable.models.eps_m import EpsM as EpsM
from hushtable.models.guarding_nodes import GuardingNodes as GuardingNodes
from hushtable.models.household import HouseholdRisk as HouseholdRisk
from hushtable.models.journalist import JournalistRisk as JournalistRisk
from hushtable.models.k_anonymity import KAnonymity as KAnonymity
from hushtable.models.k_concealment import KConcealment as KConcealment
from hushtable.models.k_map import KMap as KMap
from hushtable.models.l_alpha import LAlpha as LAlpha
from hushtable.models.m_confidentiality import MConfidentiality as MConfidentiality
from hushtable.models.m_invariance import MInvariance as MInvariance
from hushtable.models.marketer import MarketerRisk as MarketerRisk
from hushtable.models.minimal_uniques import FewSingledOut as FewSingledOut
from hushtable.models.negation_recursive_cl import NegationRecursiveCL as NegationRecursiveCL
from hushtable.models.p_alpha_sensitive import PAlphaSensitive as PAlphaSensitive
from hushtable.models.p_plus_sensitive import PPlusSensitive as PPlusSensitive
from hushtable.models.p_sensitive import PSensitive as PSensitive
from hushtable.models.population_uniqueness import PopulationUniqueness as PopulationUniqueness
from hushtable.models.privacy_skyline import PrivacySkyline as PrivacySkyline
from hushtable.models.probabilistic_l import ProbabilisticL as ProbabilisticL
from hushtable.models.recursive_cl import RecursiveCL as RecursiveCL
from hushtable.models.sample_uniqueness import SampleUniques as SampleUniques
from hushtable.models.t_closeness import TCloseness as TCloseness
from hushtable.models.value_bounds import ValueBounds as ValueBounds
from hushtable.policy.files import load_policy as load_policy
from hushtable.policy.policy import Policy as Policy
from hushtable.registry import register as register
from hushtable.release.guards.downcoding import DowncodingGuard as DowncodingGuard
from hushtable.release.guards.minimality import MinimalityGuard as MinimalityGuard
from hushtable.treatments.correlated_noise import CorrelatedNoise as CorrelatedNoise
from hushtable.treatments.date_shift import DateShift as DateShift
from hushtable.treatments.noise import Noise as Noise
from hushtable.treatments.pram import Pram as Pram
from hushtable.treatments.pseudonym import Pseudonym as Pseudonym
from hushtable.treatments.rank_swapping import RankSwapping as RankSwapping
from hushtable.treatments.record_swapping import RecordSwapping as RecordSwapping
from hushtable.treatments.rounding import Rounding as Rounding
from hushtable.treatments.shuffling import Shuffling as Shuffling
from hushtable.treatments.top_bottom_coding import TopBottomCoding as TopBottomCoding
from hushtable.utility.accuracy import Accuracy as Accuracy
from hushtable.utility.accuracy_majority import AccuracyMajority as AccuracyMajority
from hushtable.utility.accuracy_original import AccuracyOriginal as AccuracyOriginal
from hushtable.utility.average_class_size import AverageClassSize as AverageClassSize
from hushtable.utility.cavg import NormalisedClassSize as NormalisedClassSize
from hushtable.utility.discernibility import Discernibility as Discernibility
from hushtable.utility.distortion import DistortionRatio as DistortionRatio
from hushtable.utility.kl_divergence import KLDivergence as KLDivergence
from hushtable.utility.loss import Loss as Loss
from hushtable.utility.ncp import Ncp as Ncp
from hushtable.utility.non_uniform_entropy import NonUniformEntropy as NonUniformEntropy
from hushtable.utility.pair_error import PairError as PairError
from hushtable.utility.prec import Prec as Prec
from hushtable.utility.query_error import QueryError as QueryError
from hushtable.utility.sse import SquaredError as SquaredError
from hushtable.utility.treatment_change import TreatmentChange as TreatmentChange
from hushtable.utility.wang_loss import WangLoss as WangLoss

__all__ = [
    "Anonymizer",
    "Audit",
    "Ledger",
    "LinkedPolicy",
    "LinkedRelease",
    "Policy",
    "Release",
    "__version__",
    "alpha_k_anonymity",
    "anonymize",
    "anonymize_linked",
    "audit",
    "basic_beta_likeness",
    "compare",
    "delta_disclosure",
    "draft_policy",
    "enhanced_beta_likeness",
    "entropy_l_diversity",
    "increment",
    "k_anonymity",
    "l_diversity",
    "load_policy",
    "open_linked",
    "open_release",
    "profile",
    "read_policy",
    "read_sql",
    "recursive_c_l_diversity",
    "register",
    "run",
    "t_closeness",
    "verify",
    "verify_linked",
    "write_sql",
]
